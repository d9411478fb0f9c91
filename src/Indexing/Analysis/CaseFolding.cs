using System.Text;

namespace Treepie.Indexing.Analysis;

/// <summary>
/// Unicode case folding of UTF-8, independent of any culture: two texts that differ only in case become the same bytes.
/// Whole values use simple folding, one character to one (ß and ss stay different); words of a text use full folding (ß
/// becomes ss, see <see cref="FoldingExpansions"/>). ASCII is vectorised.
/// </summary>
internal static class CaseFolding
{
    /// <summary>Most bytes of a folded text: two bytes (Ⱥ) may fold to three, and an invalid byte becomes U+FFFD.</summary>
    public static int MaxBytes(int lengthBytes) => checked(lengthBytes * 3);

    /// <summary>
    /// Folds a text simply; returns the bytes written to <paramref name="output"/>, which must hold <see cref="MaxBytes"/>.
    /// </summary>
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

            // An invalid byte becomes U+FFFD, as when decoding it.
            Rune.DecodeFromUtf8(utf8, out Rune rune, out int consumed);
            written += Fold(rune).EncodeToUtf8(output[written..]);
            utf8 = utf8[consumed..];
        }

        return written;
    }

    /// <summary>Folds a text fully.</summary>
    public static byte[] FoldFully(ReadOnlySpan<byte> utf8)
    {
        var buffer = new TokenBuffer();
        buffer.AppendFolded(utf8);
        return buffer.Written.ToArray();
    }

    /// <summary>Folds one character simply.</summary>
    public static Rune Fold(Rune rune) => rune.Value switch
    {
        // The invariant casing tables do not map these two to ASCII; Unicode's CaseFolding.txt does.
        0x017F => new Rune('s'),
        0x212A => new Rune('k'),

        // Capital sharp s has no simple upper case through which it could be folded.
        0x1E9E => new Rune(0x00DF),

        // Convert to upper case first, because ς and σ, or µ and μ, are equal only there.
        _ => Rune.ToLowerInvariant(Rune.ToUpperInvariant(rune)),
    };
}
