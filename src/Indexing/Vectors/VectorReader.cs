using System.Runtime.InteropServices;
using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Kernels;
using Treepie.Indexing.Schema;
using Treepie.Storage;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Vectors;

/// <summary>
/// Finds the entries nearest to a vector. Approximate search takes candidates from the quantised graph and ranks them by their
/// full vectors. Exact search compares all vectors, or all of the entries that match a filter. One thread at a time.
/// </summary>
internal sealed class VectorReader
{
    private readonly Tree? _vectors;
    private readonly Tree? _full;
    private readonly Tree? _nodes;
    private readonly VectorFieldOptions _options;
    private readonly VectorGraph _graph;
    private readonly QueryMeter? _meter;
    private readonly byte[] _key = new byte[EntryKey.Bytes];
    private readonly float[] _scratch;

    /// <param name="tree">Returns a tree by name.</param>
    /// <param name="field">The field.</param>
    /// <param name="options">The options of the field.</param>
    /// <param name="meter">Counts the vectors compared; null to count nothing.</param>
    public VectorReader(Func<string, Tree?> tree, int field, VectorFieldOptions options, QueryMeter? meter = null)
    {
        _meter = meter;
        _options = options;
        _vectors = tree(TreeNames.Vectors(field));
        _full = options.IsQuantised ? null : tree(TreeNames.FullVectors(field));
        _nodes = tree(TreeNames.VectorNodes(field));
        Tree? links = tree(TreeNames.Links(field));
        _graph = new VectorGraph(_vectors, links, VectorState.Read(links), options, meter);
        _scratch = new float[Dimensions];
    }

    /// <summary>Number of dimensions of a vector; 0 before the first vector unless the options specify it.</summary>
    public int Dimensions => _graph.State.Dimensions > 0 ? _graph.State.Dimensions : _options.Dimensions;

    /// <summary>Number of vectors in the field.</summary>
    public long Count => _graph.State.Count;

    /// <summary>
    /// Finds the nearest entries with the graph; null if the search visited too many nodes before it found enough accepted
    /// ones.
    /// </summary>
    /// <remarks>All searches regularly call <c>check</c>, which may throw to end them.</remarks>
    public List<NearEntry>? Walk(
        float[] wanted, int count, int candidates, Func<long, bool>? accepts, long mostVisits, Action check)
    {
        var node = new VectorNode(VectorNode.Encode(0, wanted, _options.Metric));
        List<Neighbour> found = _graph.Search(node, Math.Max(count, candidates), accepts, mostVisits, out bool isComplete, check);
        if (!isComplete)
            return null;

        var nearest = new NearestEntries(count);
        float squares = VectorKernels.Dot(wanted, wanted);
        foreach (Neighbour neighbour in found)
            nearest.Add(_graph.Node(neighbour.Node).EntryId, SimilarityTo(wanted, squares, neighbour.Node));
        return nearest.Finish();
    }

    /// <summary>Finds the nearest of all entries.</summary>
    public List<NearEntry> ScanAll(float[] wanted, int count, Action check)
    {
        var nearest = new NearestEntries(count);
        float squares = VectorKernels.Dot(wanted, wanted);
        if (_vectors is null)
            return [];
        using Cursor cursor = _vectors.OpenCursor();
        long steps = 0;
        for (bool more = cursor.MoveFirst(); more; more = cursor.MoveNext())
        {
            if ((++steps & 1023) == 0)
                check();
            uint node = VectorKey.Read(cursor.Key);
            nearest.Add(_graph.NodeOf(cursor.Value).EntryId, SimilarityTo(wanted, squares, node));
        }

        return nearest.Finish();
    }

    /// <summary>Finds the nearest of some entries.</summary>
    public List<NearEntry> Scan(float[] wanted, int count, IEnumerable<long> entries, Action check)
    {
        var nearest = new NearestEntries(count);
        float squares = VectorKernels.Dot(wanted, wanted);
        long steps = 0;
        foreach (long entry in entries)
        {
            if ((++steps & 1023) == 0)
                check();
            EntryKey.Write(_key, entry);
            if (_nodes is null || !_nodes.TryGet(_key, out ReadOnlySpan<byte> value))
                continue;
            foreach (uint node in NodeList.Read(value))
                nearest.Add(entry, SimilarityTo(wanted, squares, node));
        }

        return nearest.Finish();
    }

    /// <summary>Returns the vectors of an entry; decoded from bytes if the field stores only quantised vectors.</summary>
    public List<float[]> Of(long entry)
    {
        EntryKey.Write(_key, entry);
        var own = new List<float[]>();
        if (_nodes is null || !_nodes.TryGet(_key, out ReadOnlySpan<byte> value))
            return own;
        foreach (uint node in NodeList.Read(value))
        {
            if (_full is null)
            {
                float[] numbers = new float[Dimensions];
                _graph.Node(node).CopyTo(numbers, _options.Metric);
                own.Add(numbers);
            }
            else
            {
                own.Add(Full(node).ToArray());
            }
        }

        return own;
    }

    private float SimilarityTo(float[] wanted, float squares, uint node)
    {
        if (_meter is not null)
            _meter.Count.EntriesScanned++;
        if (_full is null)
        {
            _graph.Node(node).CopyTo(_scratch, _options.Metric);
            return Similarity.Of(wanted, squares, _scratch, _options.Metric);
        }

        return Similarity.Of(wanted, squares, Full(node), _options.Metric);
    }

    /// <summary>The full vector of a node, for a field that stores full vectors.</summary>
    private ReadOnlySpan<float> Full(uint node)
    {
        Span<byte> name = stackalloc byte[VectorKey.Bytes];
        return _full!.TryGet(VectorKey.Write(name, node), out ReadOnlySpan<byte> numbers) // such a field has the tree
            && numbers.Length == Dimensions * sizeof(float)
            ? MemoryMarshal.Cast<byte, float>(numbers)
            : throw new CorruptionException(
                $"The index misses numbers of node {node} of a vector field. Reset the index to build it again.");
    }
}

/// <summary>An entry and its similarity.</summary>
internal readonly record struct NearEntry(long Id, float Similarity);

/// <summary>
/// Keeps the most similar entries. Of several vectors of an entry, the most similar counts; of entries with equal
/// similarity, the older one comes first.
/// </summary>
internal sealed class NearestEntries(int count)
{
    private readonly PriorityQueue<long, (float Similarity, long Id)> _worstFirst = new(Comparer<(
        float Similarity, long Id)>.Create(
        static (x, y) => x.Similarity != y.Similarity ? x.Similarity.CompareTo(y.Similarity) : y.Id.CompareTo(x.Id)));

    private readonly Dictionary<long, float> _kept = [];

    public void Add(long id, float similarity)
    {
        if (_kept.TryGetValue(id, out float before))
        {
            if (similarity <= before)
                return;
            _worstFirst.Remove(id, out _, out _);
        }

        _kept[id] = similarity;
        _worstFirst.Enqueue(id, (similarity, id));
        if (_worstFirst.Count > count)
            _kept.Remove(_worstFirst.Dequeue());
    }

    /// <summary>The entries, most similar first.</summary>
    public List<NearEntry> Finish()
    {
        var found = new List<NearEntry>(_worstFirst.Count);
        while (_worstFirst.TryDequeue(out long id, out (float Similarity, long Id) priority))
            found.Add(new NearEntry(id, priority.Similarity));
        found.Reverse();
        return found;
    }
}
