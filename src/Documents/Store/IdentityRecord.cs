using System.Buffers.Binary;
using System.Diagnostics;

namespace Treepie.Store;

/// <summary>
/// The value of an identity, with its folded name as the key, in the tree <see cref="TreeNames.Identities"/>. Little-endian.
/// <code>
/// OFFSET SIZE MEANING
///      0    8 the last value assigned
///      8    … name as first written, with the | at its end, UTF-8
/// </code>
/// </summary>
internal readonly ref struct IdentityRecord
{
    private const int HeaderBytes = 8;

    private readonly ReadOnlySpan<byte> _bytes;

    public IdentityRecord(ReadOnlySpan<byte> bytes)
    {
        Debug.Assert(bytes.Length > HeaderBytes, "an identity has a number and a name");
        _bytes = bytes;
    }

    public long Value => BinaryPrimitives.ReadInt64LittleEndian(_bytes);

    public ReadOnlySpan<byte> Name => _bytes[HeaderBytes..];

    public static int SizeOf(int nameLength) => HeaderBytes + nameLength;

    public static void Write(Span<byte> destination, long value, ReadOnlySpan<byte> name)
    {
        Debug.Assert(destination.Length == SizeOf(name.Length), "room is exact");
        BinaryPrimitives.WriteInt64LittleEndian(destination, value);
        name.CopyTo(destination[HeaderBytes..]);
    }
}
