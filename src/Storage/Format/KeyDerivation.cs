using System.Buffers.Binary;

namespace Treepie.Storage.Format;

/// <summary>
/// How the key that wraps others comes from what the user gives. Not secret; the salt is drawn anew at each wrapping.
/// <code>
/// OFFSET SIZE MEANING
///      0    4 kind: 1 = 32 random bytes, 2 = a passphrase, stretched by PBKDF2-HMAC-SHA-512
///      4    4 iterations; 0 for kind 1
///      8   32 salt
/// </code>
/// </summary>
internal readonly record struct KeyDerivation(KeyDerivationKind Kind, int Iterations, UInt128 SaltLow, UInt128 SaltHigh)
{
    public const int SizeBytes = 40;
    public const int SaltBytes = 32;

    /// <summary>About a tenth of a second, what OWASP's cheat sheet asks for at least (220,000), and some more.</summary>
    public const int PassphraseIterations = 250_000;

    /// <summary>A file that asks for more was made to keep its reader busy.</summary>
    public const int MaxIterations = 20_000_000;

    /// <summary>A new one of a kind, with 32 random bytes.</summary>
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

    /// <summary>Reads one; false where the bytes cannot be one.</summary>
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
