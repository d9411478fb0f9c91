using System.Text;

namespace Treepie.Indexing.Sorting;

/// <summary>
/// A key part from a hash of entry id and seed: an arbitrary order that is the same for every page and every run.
/// </summary>
internal sealed class RandomKeyPart : KeyPart
{
    private readonly ulong _seed = 14695981039346656037UL; // FNV-1a over the seed's bytes

    public RandomKeyPart(string? text)
    {
        foreach (byte value in Encoding.UTF8.GetBytes(text ?? ""))
            _seed = unchecked((_seed ^ value) * 1099511628211UL);
    }

    public override void Append(long id, float score, KeyBuffer key) => key.Append(Mix(_seed + (ulong)id));

    /// <summary>The finalizer of SplitMix64: every bit of the input affects every bit of the output.</summary>
    internal static ulong Mix(ulong value)
    {
        unchecked
        {
            value += 0x9E3779B97F4A7C15UL;
            value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9UL;
            value = (value ^ (value >> 27)) * 0x94D049BB133111EBUL;
            return value ^ (value >> 31);
        }
    }
}
