# Reads of one side of 40 fragments of DNA, whose ends overlap.
function letter() {
    seed = (seed * 1103515245 + 12345) % 2147483648
    return substr("ACGT", int(seed / 65536) % 4 + 1, 1)
}
BEGIN {
    split("A C G T", from, " "); split("T G C A", to, " ")
    for (i = 1; i <= 4; i++) other[from[i]] = to[i]
    seed = 42
    for (n = 0; n < 40; n++) {
        fragment = ""
        for (i = 0; i < 150; i++) fragment = fragment letter()
        if (side == 1) {
            read = substr(fragment, 1, 100)
        } else {
            read = ""
            for (i = 150; i > 50; i--) read = read other[substr(fragment, i, 1)]
        }
        quality = read
        gsub(/./, "I", quality)
        printf "@r%d/%d\n%s\n+\n%s\n", n, side, read, quality
    }
}
