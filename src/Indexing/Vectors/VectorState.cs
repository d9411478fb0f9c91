using System.Buffers.Binary;
using Treepie.Indexing.Schema;
using Treepie.Indexing.Terms;
using Treepie.Storage;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Vectors;

/// <summary>
/// The entry point and counters of a field's graph. Key in the tree <c>links.N</c>: <see cref="VectorKey.State"/>.
/// <code>
/// OFFSET  SIZE  MEANING
/// 0       4     dimensions, 0 before the first vector
/// 4       4     the node at which every search starts; NoNode in an empty graph
/// 8       4     the layer in which it starts
/// 12      4     next node; numbers are never reused
/// 16      8     number of nodes
/// </code>
/// </summary>
internal sealed class VectorState
{
    public const uint NoNode = uint.MaxValue;
    private const int Bytes = 24;

    public int Dimensions { get; set; }

    public uint Entry { get; set; } = NoNode;

    public int TopLayer { get; set; }

    public uint NextNode { get; set; }

    public long Count { get; set; }

    public static VectorState Read(Tree? links)
    {
        Span<byte> key = stackalloc byte[VectorKey.Bytes];
        if (links is null || !links.TryGet(VectorKey.Write(key, VectorKey.State), out ReadOnlySpan<byte> value))
            return new VectorState();

        value = RecordReader.Take(ref value, Bytes);
        var state = new VectorState
        {
            Dimensions = BinaryPrimitives.ReadInt32LittleEndian(value),
            Entry = BinaryPrimitives.ReadUInt32LittleEndian(value[4..]),
            TopLayer = BinaryPrimitives.ReadInt32LittleEndian(value[8..]),
            NextNode = BinaryPrimitives.ReadUInt32LittleEndian(value[12..]),
            Count = BinaryPrimitives.ReadInt64LittleEndian(value[16..]),
        };
        return state.Dimensions is >= 0 and <= VectorFieldOptions.MaxDimensions
            && state.TopLayer is >= 0 and <= VectorGraph.MaxLayer
            ? state
            : throw new CorruptionException(
                $"The graph of a vector field of the index has {state.Dimensions} dimensions and {state.TopLayer} layers. Reset "
                    + "the index to build it again.");
    }

    public void Write(Tree links)
    {
        Span<byte> key = stackalloc byte[VectorKey.Bytes];
        Span<byte> value = stackalloc byte[Bytes];
        BinaryPrimitives.WriteInt32LittleEndian(value, Dimensions);
        BinaryPrimitives.WriteUInt32LittleEndian(value[4..], Entry);
        BinaryPrimitives.WriteInt32LittleEndian(value[8..], TopLayer);
        BinaryPrimitives.WriteUInt32LittleEndian(value[12..], NextNode);
        BinaryPrimitives.WriteInt64LittleEndian(value[16..], Count);
        links.Put(VectorKey.Write(key, VectorKey.State), value);
    }
}

/// <summary>Keys of nodes: 4 bytes, big-endian.</summary>
internal static class VectorKey
{
    public const int Bytes = sizeof(uint);

    /// <summary>The key of the state, which is after all nodes.</summary>
    public const uint State = uint.MaxValue;

    public static ReadOnlySpan<byte> Write(Span<byte> output, uint node)
    {
        BinaryPrimitives.WriteUInt32BigEndian(output, node);
        return output[..Bytes];
    }

    public static uint Read(ReadOnlySpan<byte> key) => BinaryPrimitives.ReadUInt32BigEndian(key);
}
