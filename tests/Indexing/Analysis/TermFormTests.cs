using System.Security.Cryptography;
using Treepie.Indexing.Analysis;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Analysis;

/// <summary>Stored forms of terms around the length from which they are cut.</summary>
public sealed class TermFormTests
{
    [Theory]
    [InlineData(0, false)]
    [InlineData(511, false)]
    [InlineData(512, false)]
    [InlineData(513, true)]
    [InlineData(514, true)]
    [InlineData(100_000, true)]
    public void A_term_is_cut_from_513_bytes_on(int length, bool isCut)
    {
        byte[] term = Term(new Random(length), length), scratch = new byte[TermForm.CutBytes];
        byte[] form = TermForm.Of(term, scratch).ToArray();
        Assert.Equal(isCut, TermForm.IsCut(form));
        if (!isCut)
        {
            Assert.Equal(term, form);
            return;
        }

        Assert.Equal([.. term[..384], 0xFF, .. SHA256.HashData(term), .. term[^96..]], form);
        Assert.Equal(SHA256.HashData(term), TermForm.HashOf(form).ToArray());
    }

    /// <summary>What a form says of its term is true; of what is kept of a long one, nothing is missed.</summary>
    [Fact]
    public void A_form_has_the_beginnings_parts_and_ends_of_its_term()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        byte[] scratch = new byte[TermForm.CutBytes], scratchOfOther = new byte[TermForm.CutBytes];
        for (int round = 0; round < 5_000; round++)
        {
            byte[] term = Term(random, random.Next(2) == 0 ? random.Next(30) : random.Next(505, 700));
            ReadOnlySpan<byte> form = TermForm.Of(term, scratch);
            int start = random.Next(term.Length + 1), length = random.Next(Math.Min(TermForm.TailBytes, term.Length - start) + 1);
            byte[] part = random.Next(4) == 0 ? Term(random, length) : term[start..(start + length)];
            bool isInHead = term.AsSpan(0, Math.Min(term.Length, TermForm.HeadBytes)).IndexOf(part) >= 0,
                isInTail = term.AsSpan(Math.Max(0, term.Length - TermForm.TailBytes)).IndexOf(part) >= 0,
                isInTerm = term.AsSpan().IndexOf(part) >= 0;
            Assert.True(
                TermForm.Contains(form, part) == (term.Length > TermForm.MaxWholeBytes ? isInHead || isInTail : isInTerm),
                $"seed {seed}, round {round}");
            Assert.True(TermForm.EndsWith(form, part) == term.AsSpan().EndsWith(part), $"seed {seed}, round {round}");

            byte[] other = random.Next(3) == 0 ? [.. term] : [.. term, (byte)'a'];
            bool isSame = form.SequenceEqual(TermForm.Of(other, scratchOfOther));
            Assert.True(isSame == term.AsSpan().SequenceEqual(other), $"seed {seed}, round {round}");
        }
    }

    [Fact]
    public void A_value_without_text_equals_no_text()
    {
        Assert.True(TermForm.IsNoText(TermForm.NoText));
        Assert.False(TermForm.IsNoText([]));
        Assert.False(TermForm.IsNoText([0xFF, 0xFF]));
        Assert.False(TermForm.IsCut(TermForm.NoText));
    }

    private static byte[] Term(Random random, int length)
    {
        byte[] term = new byte[length];
        for (int i = 0; i < length; i++)
            term[i] = (byte)('a' + random.Next(2));
        return term;
    }
}
