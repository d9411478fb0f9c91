using System.Buffers.Text;
using System.Security.Cryptography;
using System.Text;

namespace Treepie.Server.Security;

/// <summary>
/// The text of tokens: <c>treepie_</c> and 256 random bits in base64url. The prefix allows scanners to find leaked tokens.
/// </summary>
internal static class TokenText
{
    public const string Prefix = "treepie_";

    private const int RandomBytes = 32;
    private const int IdBytes = 8;

    /// <summary>The maximum length of a text that is looked up; tokens are shorter.</summary>
    private const int MostCharacters = 128;

    /// <summary>Generates a token and an unrelated random id for it.</summary>
    public static (string Text, string Id) Draw() => (
        Prefix + Base64Url.EncodeToString(RandomNumberGenerator.GetBytes(RandomBytes)),
        Convert.ToHexStringLower(RandomNumberGenerator.GetBytes(IdBytes)));

    /// <summary>Returns the hash of a token; null if the text cannot be a token.</summary>
    public static string? HashOf(string text) =>
        text.Length <= MostCharacters && text.StartsWith(Prefix, StringComparison.Ordinal)
            ? Convert.ToHexStringLower(SHA256.HashData(Encoding.UTF8.GetBytes(text)))
            : null;
}
