using System.Text;

namespace Treepie.Indexing.Analysis;

/// <summary>
/// Unicode case folding of UTF-8, independent of any culture: two texts that differ by case alone become the same bytes.
/// Whole values fold simply, one character to one (ß and ss stay different); words of a text fold fully (ß is ss, see
/// <see cref="FoldingExpansions"/>). ASCII runs by vector.
/// </summary>
internal static class CaseFolding
{
    /// <summary>
    /// Most bytes that so many bytes can become: two bytes (Ⱥ) may fold to three, a broken byte becomes U+FFFD.
    /// </summary>
    public static int MaxBytes(int lengthBytes) => checked(lengthBytes * 3);

    /// <summary>Folds; returns the bytes written to <paramref name="output"/>, which holds <see cref="MaxBytes"/>.</summary>
    public static int Fold(ReadOnlySpan<byte> utf8, Span<byte> output)
    {
        int written = 0;
        while (!utf8.IsEmpty)
        {
            int ascii = utf8.IndexOfAnyExceptInRange((byte)0, (byte)127);
            if (ascii < 0)
                ascii = utf8.Length;
            if (ascii > 0)
            {
                Ascii.ToLower(utf8[..ascii], output[written..], out int lowered);
                written += lowered;
                utf8 = utf8[ascii..];
                continue;
            }

            // A broken byte becomes U+FFFD, as decoding it would give.
            Rune.DecodeFromUtf8(utf8, out Rune rune, out int consumed);
            written += Fold(rune).EncodeToUtf8(output[written..]);
            utf8 = utf8[consumed..];
        }

        return written;
    }

    /// <summary>Full folding of a text.</summary>
    public static byte[] FoldFully(ReadOnlySpan<byte> utf8)
    {
        var buffer = new TokenBuffer();
        buffer.AppendFolded(utf8);
        return buffer.Written.ToArray();
    }

    /// <summary>Folds one character.</summary>
    public static Rune Fold(Rune rune) => rune.Value switch
    {
        // The invariant casing tables keep these two away from ASCII; Unicode's CaseFolding.txt does not.
        0x017F => new Rune('s'),
        0x212A => new Rune('k'),

        // Capital sharp s has no simple upper case to come back from.
        0x1E9E => new Rune(0x00DF),

        // Through upper case, because ς and σ, or µ and μ, meet only there.
        _ => Rune.ToLowerInvariant(Rune.ToUpperInvariant(rune)),
    };
}
