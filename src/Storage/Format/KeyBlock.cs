using System.Buffers.Binary;
using System.Diagnostics;

namespace Treepie.Storage.Format;

/// <summary>
/// The keys of an encrypted store, wrapped with the user's key: AES-256-GCM under a key given by <see cref="Derivation"/> and
/// used only once, with a nonce of zero and "TPKEYS01", the store id and the first 48 bytes as associated data. Both copies
/// of both meta pages contain it.
/// <code>
/// OFFSET SIZE MEANING
///      0   40 how the wrapping key is derived from the user's key (see KeyDerivation)
///     40    4 flags: bit 0: the current data key is the odd one; bit 1: there is an even one; bit 2: there is an odd one;
///          bit 3: there are two, and the current one is the newer
///     44    4 0
///     48   16 tag
///     64   32 data key of even incarnations, encrypted
///     96   32 data key of odd incarnations, encrypted
///    128   32 root key, encrypted: for data that outlives data keys
/// </code>
/// </summary>
internal sealed class KeyBlock
{
    public const int SizeBytes = 160;
    public const int HeadBytes = 48;
    public const int SecretBytes = 96;
    public const int FlagOdd = 1;
    public const int FlagHasEven = 2;
    public const int FlagHasOdd = 4;
    public const int FlagSwitched = 8;

    private const int KnownFlags = FlagOdd | FlagHasEven | FlagHasOdd | FlagSwitched;

    private readonly byte[] _bytes;

    private KeyBlock(byte[] bytes, KeyDerivation derivation)
    {
        _bytes = bytes;
        Derivation = derivation;
    }

    /// <summary>How the wrapping key is derived from the user's key.</summary>
    public KeyDerivation Derivation { get; }

    /// <summary>Which data keys exist.</summary>
    public int Flags => BinaryPrimitives.ReadInt32LittleEndian(_bytes.AsSpan(40));

    /// <summary>The bytes authenticated with the keys.</summary>
    public ReadOnlySpan<byte> Head => _bytes.AsSpan(0, HeadBytes);

    public ReadOnlySpan<byte> Tag => _bytes.AsSpan(48, 16);

    public ReadOnlySpan<byte> Sealed => _bytes.AsSpan(64, SecretBytes);

    /// <summary>Creates a block. <paramref name="seal"/> fills in <see cref="Tag"/> and <see cref="Sealed"/>.</summary>
    public static KeyBlock New(in KeyDerivation derivation, int flags, SealKeys seal)
    {
        Debug.Assert(
            (flags & ~KnownFlags) == 0 && (flags & ((flags & FlagOdd) != 0 ? FlagHasOdd : FlagHasEven)) != 0,
            "the block has the key in force");
        var bytes = new byte[SizeBytes];
        derivation.Write(bytes);
        BinaryPrimitives.WriteInt32LittleEndian(bytes.AsSpan(40), flags);
        seal(bytes.AsSpan(0, HeadBytes), bytes.AsSpan(48, 16), bytes.AsSpan(64, SecretBytes));
        return new KeyBlock(bytes, derivation);
    }

    public void Write(Span<byte> destination) => _bytes.CopyTo(destination);

    /// <summary>Decodes a block. Returns null if it is invalid.</summary>
    public static KeyBlock? TryRead(ReadOnlySpan<byte> source)
    {
        int flags = BinaryPrimitives.ReadInt32LittleEndian(source[40..]);
        int current = (flags & FlagOdd) != 0 ? FlagHasOdd : FlagHasEven;
        if (!KeyDerivation.TryRead(source, out KeyDerivation derivation) || (flags & ~KnownFlags) != 0 || (flags & current) == 0)
            return null;

        return new KeyBlock(source[..SizeBytes].ToArray(), derivation);
    }

    /// <summary>Encrypts the keys.</summary>
    public delegate void SealKeys(ReadOnlySpan<byte> head, Span<byte> tag, Span<byte> sealedKeys);
}
