using System.Buffers.Binary;

namespace Treepie.Storage.Format;

/// <summary>
/// How the wrapping key is derived from the user's key. Not secret. The salt is generated anew for each wrapping.
/// <code>
/// OFFSET SIZE MEANING
///      0    4 kind: 1 = 32 random bytes, 2 = a passphrase, derived with PBKDF2-HMAC-SHA-512
///      4    4 iterations; 0 for kind 1
///      8   32 salt
/// </code>
/// </summary>
internal readonly record struct KeyDerivation(KeyDerivationKind Kind, int Iterations, UInt128 SaltLow, UInt128 SaltHigh)
{
    public const int SizeBytes = 40;
    public const int SaltBytes = 32;

    /// <summary>Takes about a tenth of a second. Above the minimum of OWASP's cheat sheet (220,000).</summary>
    public const int PassphraseIterations = 250_000;

    /// <summary>The maximum accepted: a file with more was made to keep its reader busy.</summary>
    public const int MaxIterations = 20_000_000;

    /// <summary>Creates a derivation of a kind, with a salt of 32 random bytes.</summary>
    public static KeyDerivation New(KeyDerivationKind kind, ReadOnlySpan<byte> salt) => new(
        kind,
        kind == KeyDerivationKind.Passphrase ? PassphraseIterations : 0,
        BinaryPrimitives.ReadUInt128LittleEndian(salt),
        BinaryPrimitives.ReadUInt128LittleEndian(salt[16..]));

    public void Write(Span<byte> destination)
    {
        BinaryPrimitives.WriteInt32LittleEndian(destination, (int)Kind);
        BinaryPrimitives.WriteInt32LittleEndian(destination[4..], Iterations);
        WriteSalt(destination[8..]);
    }

    public void WriteSalt(Span<byte> destination)
    {
        BinaryPrimitives.WriteUInt128LittleEndian(destination, SaltLow);
        BinaryPrimitives.WriteUInt128LittleEndian(destination[16..], SaltHigh);
    }

    /// <summary>Decodes a derivation. Returns false if it is invalid.</summary>
    public static bool TryRead(ReadOnlySpan<byte> source, out KeyDerivation derivation)
    {
        derivation = new KeyDerivation(
            (KeyDerivationKind)BinaryPrimitives.ReadInt32LittleEndian(source),
            BinaryPrimitives.ReadInt32LittleEndian(source[4..]),
            BinaryPrimitives.ReadUInt128LittleEndian(source[8..]),
            BinaryPrimitives.ReadUInt128LittleEndian(source[24..]));
        return derivation.Kind switch
        {
            KeyDerivationKind.Bytes => derivation.Iterations == 0,
            KeyDerivationKind.Passphrase => derivation.Iterations is > 0 and <= MaxIterations,
            _ => false,
        };
    }
}
