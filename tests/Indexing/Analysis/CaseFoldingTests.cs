using System.Text;
using Treepie.Indexing.Analysis;

namespace Treepie.Indexing.Tests.Analysis;

/// <summary>What folding promises of every character there is.</summary>
public sealed class CaseFoldingTests
{
    [Fact]
    public void A_character_and_its_other_cases_become_the_same_and_stay_so()
    {
        var wrong = new List<string>();
        byte[] bytes = new byte[4];
        for (int value = 0; value <= 0x10FFFF; value++)
        {
            if (!Rune.TryCreate(value, out Rune rune))
                continue;
            Rune folded = CaseFolding.Fold(rune);
            byte[] full = Full(rune);
            bool isStable = CaseFolding.Fold(folded) == folded && CaseFolding.FoldFully(full).AsSpan().SequenceEqual(full);
            Rune upper = Rune.ToUpperInvariant(rune), lower = Rune.ToLowerInvariant(rune);
            bool areEqual = CaseFolding.Fold(upper) == folded && CaseFolding.Fold(lower) == folded
                && Full(upper).AsSpan().SequenceEqual(full) && Full(lower).AsSpan().SequenceEqual(full);
            if (!isStable || !areEqual)
                wrong.Add($"U+{value:X4}");
        }

        Assert.Empty(wrong);

        byte[] Full(Rune rune) => CaseFolding.FoldFully(bytes.AsSpan(0, rune.EncodeToUtf8(bytes)));
    }

    [Fact]
    public void A_text_is_folded_character_by_character_within_the_promised_length()
    {
        byte[] text = new byte[4], output = new byte[CaseFolding.MaxBytes(4)];
        for (int value = 0; value <= 0x10FFFF; value++)
        {
            if (!Rune.TryCreate(value, out Rune rune))
                continue;
            int length = rune.EncodeToUtf8(text);
            int written = CaseFolding.Fold(text.AsSpan(0, length), output);
            Assert.True(written <= CaseFolding.MaxBytes(length), rune.ToString());
            Assert.Equal(CaseFolding.Fold(rune).ToString(), Encoding.UTF8.GetString(output, 0, written));
        }
    }

    /// <summary>Of half a pair of surrogates in UTF-8, no byte is part of a character.</summary>
    [Fact]
    public void Half_a_pair_of_surrogates_becomes_three_replacement_characters()
    {
        byte[] text = [(byte)'A', 0xED, 0xA0, 0xBD, (byte)'B'], output = new byte[CaseFolding.MaxBytes(text.Length)];
        Assert.Equal("a\uFFFD\uFFFD\uFFFDb", Encoding.UTF8.GetString(output, 0, CaseFolding.Fold(text, output)));
        Assert.Equal("a\uFFFD\uFFFD\uFFFDb", Encoding.UTF8.GetString(CaseFolding.FoldFully(text)));
    }
}
