using System.Text;

namespace Treepie.Indexing.Analysis.Parts;

/// <summary>Removes words with fewer or more characters than allowed.</summary>
internal sealed class LengthFilter(int min, int max) : TermFilter
{
    public override void Apply(ReadOnlySpan<byte> term, TermChain chain, int place)
    {
        int count = 0;
        ReadOnlySpan<byte> rest = term;
        while (!rest.IsEmpty && count <= max)
        {
            Rune.DecodeFromUtf8(rest, out _, out int consumed);
            rest = rest[consumed..];
            count++;
        }

        if (count >= min && count <= max)
            chain.Pass(term, place + 1);
    }
}
