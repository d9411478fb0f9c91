using System.Buffers.Text;
using System.Security.Cryptography;
using System.Text;

namespace Treepie.Server.Security;

/// <summary>
/// The text of a token: <c>treepie_</c> and 256 random bits in base64url. The prefix lets scanners of leaked secrets find it.
/// </summary>
internal static class TokenText
{
    public const string Prefix = "treepie_";

    private const int RandomBytes = 32;
    private const int IdBytes = 8;

    /// <summary>Longest text that is looked up; more is no token of ours.</summary>
    private const int MostCharacters = 128;

    /// <summary>A new one, and an id for it, which says nothing of it.</summary>
    public static (string Text, string Id) Draw() => (
        Prefix + Base64Url.EncodeToString(RandomNumberGenerator.GetBytes(RandomBytes)),
        Convert.ToHexStringLower(RandomNumberGenerator.GetBytes(IdBytes)));

    /// <summary>What is kept of a text; null where it cannot be a token.</summary>
    public static string? HashOf(string text) =>
        text.Length <= MostCharacters && text.StartsWith(Prefix, StringComparison.Ordinal)
            ? Convert.ToHexStringLower(SHA256.HashData(Encoding.UTF8.GetBytes(text)))
            : null;
}
