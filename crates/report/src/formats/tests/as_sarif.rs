//! SARIF.

use super::*;

#[test]
fn of_findings() {
    let finding = samples::ab_ba();
    expect![[r#"
        {
          "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
          "version": "2.1.0",
          "runs": [
            {
              "tool": {
                "driver": {
                  "name": "Raddle",
                  "semanticVersion": "1.2.3",
                  "rules": [
                    {
                      "id": "deadlock",
                      "name": "deadlock",
                      "shortDescription": {
                        "text": "deadlock"
                      }
                    }
                  ]
                }
              },
              "columnKind": "unicodeCodePoints",
              "originalUriBaseIds": {
                "SRCROOT": {
                  "uri": "file:///home/me/"
                }
              },
              "results": [
                {
                  "ruleId": "deadlock",
                  "ruleIndex": 0,
                  "level": "error",
                  "message": {
                    "text": "deadlock: T1 and T2 wait for each other (`right` and `left`)\nT0 (main) waits for T1 to finish (bank.c:52)"
                  },
                  "locations": [
                    {
                      "physicalLocation": {
                        "artifactLocation": {
                          "uri": "examples/bank.c",
                          "uriBaseId": "SRCROOT"
                        },
                        "region": {
                          "startLine": 31,
                          "startColumn": 5
                        }
                      },
                      "message": {
                        "text": "3. T1 waits forever for `right`, held by T2 (2)"
                      }
                    }
                  ],
                  "relatedLocations": [
                    {
                      "physicalLocation": {
                        "artifactLocation": {
                          "uri": "examples/bank.c",
                          "uriBaseId": "SRCROOT"
                        },
                        "region": {
                          "startLine": 30,
                          "startColumn": 5
                        }
                      },
                      "message": {
                        "text": "1. T1 locks `left`"
                      }
                    },
                    {
                      "physicalLocation": {
                        "artifactLocation": {
                          "uri": "examples/bank.c",
                          "uriBaseId": "SRCROOT"
                        },
                        "region": {
                          "startLine": 30,
                          "startColumn": 5
                        }
                      },
                      "message": {
                        "text": "2. T2 locks `right`"
                      }
                    },
                    {
                      "physicalLocation": {
                        "artifactLocation": {
                          "uri": "examples/bank.c",
                          "uriBaseId": "SRCROOT"
                        },
                        "region": {
                          "startLine": 31,
                          "startColumn": 5
                        }
                      },
                      "message": {
                        "text": "3. T1 waits forever for `right`, held by T2 (2)"
                      }
                    },
                    {
                      "physicalLocation": {
                        "artifactLocation": {
                          "uri": "examples/bank.c",
                          "uriBaseId": "SRCROOT"
                        },
                        "region": {
                          "startLine": 31,
                          "startColumn": 5
                        }
                      },
                      "message": {
                        "text": "4. T2 waits forever for `left`, held by T1 (1)"
                      }
                    }
                  ],
                  "codeFlows": [
                    {
                      "message": {
                        "text": "the failing schedule"
                      },
                      "threadFlows": [
                        {
                          "id": "T0",
                          "message": {
                            "text": "T0 main"
                          },
                          "locations": [
                            {
                              "location": {
                                "physicalLocation": {
                                  "artifactLocation": {
                                    "uri": "examples/bank.c",
                                    "uriBaseId": "SRCROOT"
                                  },
                                  "region": {
                                    "startLine": 50,
                                    "startColumn": 5
                                  }
                                },
                                "message": {
                                  "text": "spawn T1"
                                }
                              },
                              "executionOrder": 1,
                              "importance": "unimportant"
                            },
                            {
                              "location": {
                                "physicalLocation": {
                                  "artifactLocation": {
                                    "uri": "examples/bank.c",
                                    "uriBaseId": "SRCROOT"
                                  },
                                  "region": {
                                    "startLine": 51,
                                    "startColumn": 5
                                  }
                                },
                                "message": {
                                  "text": "spawn T2"
                                }
                              },
                              "executionOrder": 2,
                              "importance": "important"
                            },
                            {
                              "location": {
                                "physicalLocation": {
                                  "artifactLocation": {
                                    "uri": "examples/bank.c",
                                    "uriBaseId": "SRCROOT"
                                  },
                                  "region": {
                                    "startLine": 52,
                                    "startColumn": 5
                                  }
                                },
                                "message": {
                                  "text": "join T1 (blocked forever)"
                                }
                              },
                              "executionOrder": 7,
                              "importance": "essential"
                            }
                          ]
                        },
                        {
                          "id": "T1",
                          "message": {
                            "text": "T1"
                          },
                          "locations": [
                            {
                              "location": {
                                "message": {
                                  "text": "start"
                                }
                              },
                              "executionOrder": 3,
                              "importance": "important"
                            },
                            {
                              "location": {
                                "physicalLocation": {
                                  "artifactLocation": {
                                    "uri": "examples/bank.c",
                                    "uriBaseId": "SRCROOT"
                                  },
                                  "region": {
                                    "startLine": 30,
                                    "startColumn": 5
                                  }
                                },
                                "message": {
                                  "text": "lock left"
                                }
                              },
                              "executionOrder": 4,
                              "importance": "important"
                            },
                            {
                              "location": {
                                "physicalLocation": {
                                  "artifactLocation": {
                                    "uri": "examples/bank.c",
                                    "uriBaseId": "SRCROOT"
                                  },
                                  "region": {
                                    "startLine": 31,
                                    "startColumn": 5
                                  }
                                },
                                "message": {
                                  "text": "lock right (blocked forever)"
                                }
                              },
                              "executionOrder": 8,
                              "importance": "essential"
                            }
                          ]
                        },
                        {
                          "id": "T2",
                          "message": {
                            "text": "T2"
                          },
                          "locations": [
                            {
                              "location": {
                                "message": {
                                  "text": "start"
                                }
                              },
                              "executionOrder": 5,
                              "importance": "important"
                            },
                            {
                              "location": {
                                "physicalLocation": {
                                  "artifactLocation": {
                                    "uri": "examples/bank.c",
                                    "uriBaseId": "SRCROOT"
                                  },
                                  "region": {
                                    "startLine": 30,
                                    "startColumn": 5
                                  }
                                },
                                "message": {
                                  "text": "lock right"
                                }
                              },
                              "executionOrder": 6,
                              "importance": "unimportant"
                            },
                            {
                              "location": {
                                "physicalLocation": {
                                  "artifactLocation": {
                                    "uri": "examples/bank.c",
                                    "uriBaseId": "SRCROOT"
                                  },
                                  "region": {
                                    "startLine": 31,
                                    "startColumn": 5
                                  }
                                },
                                "message": {
                                  "text": "lock left (blocked forever)"
                                }
                              },
                              "executionOrder": 9,
                              "importance": "essential"
                            }
                          ]
                        }
                      ]
                    }
                  ],
                  "partialFingerprints": {
                    "raddle/bucket/v1": "00000000000002c1"
                  },
                  "properties": {
                    "id": "dl-02c1",
                    "program": "bank.c",
                    "replay": "raddle replay dl-02c1"
                  }
                }
              ]
            }
          ]
        }
    "#]]
    .assert_eq(&sarif(&[item(&finding, "dl-02c1")], "1.2.3"));
}

#[test]
fn every_kind_is_valid() {
    let mut bare = samples::assertion();
    bare.sites.clear();
    bare.steps.clear();
    let findings = [
        samples::ab_ba(),
        samples::lost_wakeup(),
        samples::assertion(),
        samples::crash(),
        samples::misuse(),
        samples::five_threads(),
        samples::heap_locks(),
        analyses::on_the_heap(),
        evil(),
        bare,
    ];
    let items: Vec<Item<'_>> = findings.iter().map(|it| item(it, "x-1")).collect();
    schema::check(&sarif(&items, "1.2.3"));
    schema::check(&sarif(&[], "1.2.3"));
}

#[test]
fn paths_are_uris() {
    let text = sarif(&[item(&evil(), "x-1")], "1.2.3");
    assert!(text.contains("\"uri\": \"a%20b%2Cc%3A%2540.c\""), "{text}");
    assert!(text.contains("\"uriBaseId\": \"SRCROOT\""));
}

#[test]
fn long_schedules_are_cut() {
    let mut long = samples::assertion();
    for _ in 0..1_500 {
        samples::add(&mut long, &[(0, OpKind::Lock, 1, 30), (0, OpKind::Unlock, 1, 36)]);
    }
    let log: Value = serde_json::from_str(&sarif(&[item(&long, "x-1")], "1")).expect("JSON");
    let flow = &log["runs"][0]["results"][0]["codeFlows"][0];
    let flows = flow["threadFlows"].as_array().expect("flows");
    let n_all: usize = flows.iter().map(|it| it["locations"].as_array().map_or(0, Vec::len)).sum();
    assert_eq!(n_all, 1_000);
    assert_eq!(flow["message"]["text"], "the failing schedule, without its first 2006 steps");
}
