using System.Text;

namespace Treepie.Documents.Tests.Oracle;

/// <summary>A text with what comparisons need of it, made once: a text is compared by many queries.</summary>
public sealed class OracleText(string plain)
{
    private readonly byte[] _utf8 = Encoding.UTF8.GetBytes(plain);
    private OracleText? _folded;

    public string Plain { get; } = plain;

    /// <summary>The text without case.</summary>
    public OracleText Folded => _folded ??= Fold(Plain) is var folded && folded == Plain ? this : new OracleText(folded);

    /// <summary>The text as it is compared with the case or without it.</summary>
    public OracleText Form(bool isExact) => isExact ? this : Folded;

    /// <summary>In the order of the bytes of UTF-8, which is that of the characters.</summary>
    public static int Order(OracleText left, OracleText right) => left._utf8.AsSpan().SequenceCompareTo(right._utf8);

    /// <summary>Without case, letter by letter.</summary>
    private static string Fold(string text)
    {
        var folded = new StringBuilder(text.Length);
        foreach (Rune rune in text.EnumerateRunes())
            folded.Append(rune.Value switch
            {
                0x17F => "s", // the long s and the sign of kelvin are equal to letters of ASCII
                0x212A => "k",
                _ => Rune.ToLowerInvariant(Rune.ToUpperInvariant(rune)).ToString(),
            });
        return folded.ToString();
    }
}
