//! JUnit's XML, as CI servers read it: a suite for each harness, a case for each test.

use std::fmt::Write as _;

use crate::{
    campaign::suite::{TestLine, Verdict},
    layout::markup::escape,
};

/// The whole file.
pub fn junit_of_suite(tests: &[TestLine]) -> String {
    let mut text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned();
    let time: f64 = tests.iter().map(|it| it.elapsed_s).sum();
    let counts = counts(tests);
    let _ = writeln!(text, "<testsuites name=\"raddle\" {counts} time=\"{time:.3}\">");
    for suite in tests.chunk_by(|a, b| a.binary == b.binary) {
        let time: f64 = suite.iter().map(|it| it.elapsed_s).sum();
        let (name, counts) = (escape(&suite[0].binary), self::counts(suite));
        let _ = writeln!(text, "  <testsuite name=\"{name}\" {counts} time=\"{time:.3}\">");
        for test in suite {
            text += &case(test);
        }
        text += "  </testsuite>\n";
    }
    text + "</testsuites>\n"
}

fn counts(tests: &[TestLine]) -> String {
    let n_of = |is: fn(&Verdict) -> bool| tests.iter().filter(|it| is(&it.verdict)).count();
    let n_failed = n_of(|it| matches!(it, Verdict::Found(_) | Verdict::Fails(_)));
    let n_errors = n_of(|it| matches!(it, Verdict::Broken(_)));
    format!("tests=\"{}\" failures=\"{n_failed}\" errors=\"{n_errors}\"", tests.len())
}

fn case(test: &TestLine) -> String {
    let name = if test.name.is_empty() { &test.binary } else { &test.name };
    let (name, class) = (escape(name), escape(&test.binary));
    let head = format!(
        "    <testcase name=\"{name}\" classname=\"{class}\" time=\"{:.3}\">",
        test.elapsed_s
    );
    let mut text = format!("{head}\n      <properties>\n");
    let mut properties = vec![
        ("raddle.executions", test.executions.to_string()),
        ("raddle.distinct-traces", test.distinct_traces.to_string()),
        ("raddle.stability", format!("{:.1}", test.stability)),
        ("raddle.one-thread", (test.verdict == Verdict::Alone).to_string()),
        ("raddle.all-explored", (test.verdict == Verdict::All).to_string()),
    ];
    if let Verdict::Found(hits) = &test.verdict {
        for hit in hits {
            properties.push(("raddle.replay", format!("raddle replay {}", hit.id)));
        }
    }
    for (name, value) in properties {
        let _ = writeln!(text, "        <property name=\"{name}\" value=\"{}\"/>", escape(&value));
    }
    text += "      </properties>\n";
    match &test.verdict {
        Verdict::Passed | Verdict::All | Verdict::Complete | Verdict::Alone => {}
        Verdict::Few => {
            let few = format!("{} executions are too few to pass", test.executions);
            let _ = writeln!(text, "      <skipped message=\"{few}\"/>");
        }
        Verdict::Slow => {
            let within = if test.executions > 0 { "within the step limit" } else { "in time" };
            let _ = writeln!(text, "      <skipped message=\"no execution finished {within}\"/>");
        }
        Verdict::Inconclusive(what) => {
            let _ = writeln!(text, "      <skipped message=\"inconclusive: {}\"/>", escape(what));
        }
        Verdict::Found(hits) => {
            for hit in hits {
                let (kind, message) = (escape(&hit.kind), escape(&hit.message));
                let body = escape(&hit.text);
                let _ = writeln!(
                    text,
                    "      <failure type=\"{kind}\" message=\"{message}\">{body}</failure>"
                );
            }
        }
        Verdict::Fails(why) => {
            let _ =
                writeln!(text, "      <failure type=\"baseline\" message=\"{}\"/>", escape(why));
        }
        Verdict::Broken(why) => {
            let _ = writeln!(text, "      <error message=\"{}\"/>", escape(why));
        }
    }
    text + "    </testcase>\n"
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::junit_of_suite;
    use crate::campaign::suite::samples;

    #[test]
    fn a_case_for_each_test() {
        expect![[r#"
            <?xml version="1.0" encoding="UTF-8"?>
            <testsuites name="raddle" tests="2" failures="1" errors="0" time="0.500">
              <testsuite name="queue" tests="2" failures="1" errors="0" time="0.500">
                <testcase name="pushes" classname="queue" time="0.250">
                  <properties>
                    <property name="raddle.executions" value="2000"/>
                    <property name="raddle.distinct-traces" value="312"/>
                    <property name="raddle.stability" value="100.0"/>
                    <property name="raddle.one-thread" value="false"/>
                    <property name="raddle.all-explored" value="false"/>
                  </properties>
                </testcase>
                <testcase name="pops" classname="queue" time="0.250">
                  <properties>
                    <property name="raddle.executions" value="17"/>
                    <property name="raddle.distinct-traces" value="9"/>
                    <property name="raddle.stability" value="100.0"/>
                    <property name="raddle.one-thread" value="false"/>
                    <property name="raddle.all-explored" value="false"/>
                    <property name="raddle.replay" value="raddle replay dl-02c1"/>
                  </properties>
                  <failure type="deadlock" message="T1 waits for &lt;a&gt; &amp; &quot;b&quot;">error[dl-02c1]�
            </failure>
                </testcase>
              </testsuite>
            </testsuites>
        "#]]
        .assert_eq(&junit_of_suite(&samples::tests()[1..3]));
    }
}
