using System.Buffers.Binary;
using System.Text;

namespace Treepie.Indexes.States;

/// <summary>
/// A node of the tree of partial results of a group: the reduced results of the mapped results below it. The root has the
/// result of the group.
/// <code>
/// OFFSET SIZE MEANING
///      0    8 mapped results below it
///      8    1 0: objects follow; 1: the reduce failed, and its error message follows, UTF-8
///      9    … objects, each preceded by its length (4 bytes)
/// </code>
/// </summary>
/// <param name="Count">The number of mapped results below it.</param>
/// <param name="Objects">The reduced results, JSON objects.</param>
/// <param name="Error">Why reducing failed; null if it did not.</param>
internal sealed record GroupNode(long Count, IReadOnlyList<ReadOnlyMemory<byte>> Objects, string? Error = null)
{
    private const int HeaderBytes = 9;

    /// <summary>A node with nothing below it.</summary>
    public static GroupNode Empty { get; } = new(0, []);

    public static GroupNode Read(ReadOnlySpan<byte> value)
    {
        long count = BinaryPrimitives.ReadInt64BigEndian(value);
        ReadOnlySpan<byte> rest = value[HeaderBytes..];
        if (value[HeaderBytes - 1] != 0)
            return new GroupNode(count, [], Encoding.UTF8.GetString(rest));

        var objects = new List<ReadOnlyMemory<byte>>(1);
        while (!rest.IsEmpty)
        {
            int length = BinaryPrimitives.ReadInt32BigEndian(rest);
            objects.Add(rest.Slice(sizeof(int), length).ToArray());
            rest = rest[(sizeof(int) + length)..];
        }

        return new GroupNode(count, objects);
    }

    public byte[] Write()
    {
        byte[] error = Error is null ? [] : Encoding.UTF8.GetBytes(Error);
        byte[] value = new byte[HeaderBytes + error.Length + Objects.Sum(one => sizeof(int) + one.Length)];
        BinaryPrimitives.WriteInt64BigEndian(value, Count);
        value[HeaderBytes - 1] = Error is null ? (byte)0 : (byte)1;
        error.CopyTo(value, HeaderBytes);
        Span<byte> rest = value.AsSpan(HeaderBytes);
        if (Error is not null)
            return value;
        foreach (ReadOnlyMemory<byte> one in Objects)
        {
            BinaryPrimitives.WriteInt32BigEndian(rest, one.Length);
            one.Span.CopyTo(rest[sizeof(int)..]);
            rest = rest[(sizeof(int) + one.Length)..];
        }

        return value;
    }
}
