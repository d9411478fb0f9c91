using System.Security.Cryptography;
using Treepie.Storage;

namespace Treepie.Torture.Runs;

/// <summary>
/// Keys that users give, by number, the same in every run. No passphrases: each opening would stretch them for a tenth of a
/// second.
/// </summary>
internal static class UserKeys
{
    /// <summary>Numbers go on from the first again: nobody changes a key so often that two meet.</summary>
    private const int Count = 32;

    private static readonly EncryptionKey[] _all =
        [.. Enumerable.Range(0, Count).Select(number => EncryptionKey.FromBytes(SHA256.HashData(BitConverter.GetBytes(number))))];

    /// <summary>The key of a number.</summary>
    public static EncryptionKey Of(int number) => _all[number % Count];
}
