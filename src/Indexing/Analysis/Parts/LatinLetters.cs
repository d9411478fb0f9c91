using System.Collections.Frozen;
using System.Text;

namespace Treepie.Indexing.Analysis.Parts;

/// <summary>
/// Maps Latin letters to plain ones, as typed by people whose keyboard lacks them: <c>é</c> becomes <c>e</c>, <c>ø</c>
/// becomes <c>o</c>, <c>æ</c> becomes <c>ae</c>. Uses a table, so that an index is the same on every system.
/// </summary>
internal static class LatinLetters
{
    private static readonly FrozenDictionary<int, string> _plain = Table(
    [
        ("A", "ÀÁÂÃÄÅĀĂĄǍǞǠǺȀȂȦḀẠẢẤẦẨẪẬẮẰẲẴẶ"),
        ("AE", "ÆǢǼ"),
        ("B", "ḂḄḆ"),
        ("C", "ÇĆĈĊČḈ"),
        ("D", "ÐĎĐḊḌḎḐḒ"),
        ("E", "ÈÉÊËĒĔĖĘĚȄȆȨḔḖḘḚḜẸẺẼẾỀỂỄỆ"),
        ("F", "Ḟ"),
        ("G", "ĜĞĠĢǦǴḠ"),
        ("H", "ĤĦȞḢḤḦḨḪ"),
        ("I", "ÌÍÎÏĨĪĬĮİǏȈȊḬḮỈỊ"),
        ("IJ", "Ĳ"),
        ("J", "Ĵ"),
        ("K", "ĶǨḰḲḴ"),
        ("L", "ĹĻĽŁḶḸḺḼ"),
        ("M", "ḾṀṂ"),
        ("N", "ÑŃŅŇŊǸṄṆṈṊ"),
        ("O", "ÒÓÔÕÖØŌŎŐƠǑǪǬǾȌȎȪȬȮȰṌṎṐṒỌỎỐỒỔỖỘỚỜỞỠỢ"),
        ("OE", "Œ"),
        ("P", "ṔṖ"),
        ("R", "ŔŖŘȐȒṘṚṜṞ"),
        ("S", "ŚŜŞŠȘṠṢṤṦṨ"),
        ("SS", "ẞ"),
        ("T", "ŢŤŦȚṪṬṮṰ"),
        ("TH", "Þ"),
        ("U", "ÙÚÛÜŨŪŬŮŰŲƯǓǕǗǙǛȔȖṲṴṶṸṺỤỦỨỪỬỮỰ"),
        ("V", "ṼṾ"),
        ("W", "ŴẀẂẄẆẈ"),
        ("X", "ẊẌ"),
        ("Y", "ÝŶŸȲẎỲỴỶỸ"),
        ("Z", "ŹŻŽẐẒẔ"),
        ("a", "àáâãäåāăąǎǟǡǻȁȃȧḁạảấầẩẫậắằẳẵặ"),
        ("ae", "æǣǽ"),
        ("b", "ḃḅḇ"),
        ("c", "çćĉċčḉ"),
        ("d", "ðďđḋḍḏḑḓ"),
        ("e", "èéêëēĕėęěȅȇȩḕḗḙḛḝẹẻẽếềểễệ"),
        ("f", "ḟ"),
        ("g", "ĝğġģǧǵḡ"),
        ("h", "ĥħȟḣḥḧḩḫẖ"),
        ("i", "ìíîïĩīĭįıǐȉȋḭḯỉị"),
        ("ij", "ĳ"),
        ("j", "ĵǰ"),
        ("k", "ķĸǩḱḳḵ"),
        ("l", "ĺļľłḷḹḻḽ"),
        ("m", "ḿṁṃ"),
        ("n", "ñńņňŉŋǹṅṇṉṋ"),
        ("o", "òóôõöøōŏőơǒǫǭǿȍȏȫȭȯȱṍṏṑṓọỏốồổỗộớờởỡợ"),
        ("oe", "œ"),
        ("p", "ṕṗ"),
        ("r", "ŕŗřȑȓṙṛṝṟ"),
        ("s", "śŝşšſșṡṣṥṧṩẛ"),
        ("ss", "ß"),
        ("t", "ţťŧțṫṭṯṱẗ"),
        ("th", "þ"),
        ("u", "ùúûüũūŭůűųưǔǖǘǚǜȕȗṳṵṷṹṻụủứừửữự"),
        ("v", "ṽṿ"),
        ("w", "ŵẁẃẅẇẉẘ"),
        ("x", "ẋẍ"),
        ("y", "ýÿŷȳẏẙỳỵỷỹ"),
        ("z", "źżžẑẓẕ"),
    ]);

    /// <summary>The plain form of a letter; empty if the character is removed, null if it is unchanged.</summary>
    public static string? Plain(Rune rune) =>
        rune.Value is >= 0x300 and <= 0x36F ? "" : rune.Value >= 0xC0 ? _plain.GetValueOrDefault(rune.Value) : null;

    private static FrozenDictionary<int, string> Table(ReadOnlySpan<(string Plain, string Letters)> lines)
    {
        var table = new Dictionary<int, string>();
        foreach ((string plain, string letters) in lines)
            foreach (Rune letter in letters.EnumerateRunes())
                table.Add(letter.Value, plain);
        return table.ToFrozenDictionary();
    }
}
