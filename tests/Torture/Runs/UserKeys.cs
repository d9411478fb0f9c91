using System.Security.Cryptography;
using Treepie.Storage;

namespace Treepie.Torture.Runs;

/// <summary>
/// User keys by number, the same in every run. They are not passphrases, because deriving their keys would take a tenth of a
/// second per opening.
/// </summary>
internal static class UserKeys
{
    /// <summary>Numbers wrap around. No run changes the key often enough for two numbers to collide.</summary>
    private const int Count = 32;

    private static readonly EncryptionKey[] _all =
        [.. Enumerable.Range(0, Count).Select(number => EncryptionKey.FromBytes(SHA256.HashData(BitConverter.GetBytes(number))))];

    /// <summary>Returns the key with a number.</summary>
    public static EncryptionKey Of(int number) => _all[number % Count];
}
