using System.Buffers.Binary;
using System.Diagnostics;
using System.Runtime.InteropServices;
using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Schema;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Vectors;

/// <summary>
/// Changes one vector field in one write transaction: the graph, the full vectors, and the nodes of each entry. Invalid vectors
/// were rejected when they were added to the batch.
/// </summary>
internal sealed class VectorFieldWriter
{
    private readonly Tree _vectors;
    private readonly Tree? _full;
    private readonly Tree _nodes;
    private readonly VectorFieldOptions _options;
    private readonly VectorGraphEditor _graph;

    public VectorFieldWriter(WriteTransaction transaction, int field, VectorFieldOptions options)
    {
        _options = options;
        _vectors = transaction.GetOrCreateTree(TreeNames.Vectors(field));
        _full = options.IsQuantised ? null : transaction.GetOrCreateTree(TreeNames.FullVectors(field));
        _nodes = transaction.GetOrCreateTree(TreeNames.VectorNodes(field));
        Tree links = transaction.GetOrCreateTree(TreeNames.Links(field));
        _graph = new VectorGraphEditor(_vectors, links, VectorState.Read(links), options);
    }

    /// <summary>Removes the vectors of entries; entries without a vector are skipped.</summary>
    public void Remove(IEnumerable<long> ids, CancellationToken cancellationToken)
    {
        Span<byte> entry = stackalloc byte[EntryKey.Bytes];
        Span<byte> key = stackalloc byte[VectorKey.Bytes];
        foreach (long id in ids)
        {
            cancellationToken.ThrowIfCancellationRequested();
            EntryKey.Write(entry, id);
            if (!_nodes.TryGet(entry, out ReadOnlySpan<byte> value))
                continue;
            uint[] had = NodeList.Read(value);
            _nodes.Delete(entry);
            foreach (uint node in had)
            {
                _graph.Remove(node);
                _full?.Delete(VectorKey.Write(key, node));
            }
        }
    }

    /// <summary>Adds the vectors of an entry that has none.</summary>
    public void Add(long id, IReadOnlyList<float[]> added, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        Span<byte> key = stackalloc byte[VectorKey.Bytes];
        var numbers = new List<uint>(added.Count);
        foreach (float[] vector in added)
        {
            if (_graph.State.Dimensions == 0)
                _graph.State.Dimensions = vector.Length;
            Debug.Assert(vector.Length == _graph.State.Dimensions, "the batch takes vectors of one length");
            uint node = _graph.Insert(VectorNode.Encode(id, vector, _options.Metric), cancellationToken);
            _full?.Put(VectorKey.Write(key, node), MemoryMarshal.AsBytes<float>(vector));
            numbers.Add(node);
        }

        if (numbers.Count == 0)
            return;
        Span<byte> entry = stackalloc byte[EntryKey.Bytes];
        EntryKey.Write(entry, id);
        _nodes.Put(entry, NodeList.Write(numbers));
    }

    /// <summary>Writes the graph.</summary>
    public void Flush() => _graph.Flush();
}

/// <summary>The nodes of an entry's vectors, 4 bytes each, little-endian. Key in the tree <c>nodes.N</c>: entry id.</summary>
internal static class NodeList
{
    public static uint[] Read(ReadOnlySpan<byte> value)
    {
        uint[] nodes = new uint[value.Length / sizeof(uint)];
        for (int i = 0; i < nodes.Length; i++)
            nodes[i] = BinaryPrimitives.ReadUInt32LittleEndian(value[(i * sizeof(uint))..]);
        return nodes;
    }

    public static byte[] Write(List<uint> nodes)
    {
        byte[] value = new byte[nodes.Count * sizeof(uint)];
        for (int i = 0; i < nodes.Count; i++)
            BinaryPrimitives.WriteUInt32LittleEndian(value.AsSpan(i * sizeof(uint)), nodes[i]);
        return value;
    }
}
