using System.Buffers.Binary;
using System.Diagnostics;
using Treepie.Indexing.Schema;
using Treepie.Storage;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Vectors;

/// <summary>
/// A hierarchical navigable small-world graph (HNSW): every node is in layer 0, and one in <c>Edges</c> nodes of each layer is
/// also in the layer above. A search starts in the top layer, descends to the nearest node that it finds, and continues from it
/// in the next layer; in layer 0 it keeps the best candidates and ends when none of them leads nearer. Read from the trees; one
/// thread at a time.
/// <code>
/// value of links.N by node: layers (1 byte), then per layer from 0 on: count (1 byte), count × node (4, little-endian)
/// </code>
/// </summary>
/// <remarks>
/// Invariants: 1. Links go both ways: a node is among the neighbours of each of its neighbours. 2. Both ends of a link exist
/// and are in its layer. 3. A node has at most as many links in a layer as the limit. 4. The entry node is in the top layer.
/// Because of 1 and 2, removing a node requires reading only its neighbours, and no link leads to a removed node.
/// </remarks>
internal class VectorGraph(Tree? vectors, Tree? links, VectorState state, VectorFieldOptions options, QueryMeter? meter = null)
{
    /// <summary>Most links of a node in layer 0; well below the limit of a count of one byte.</summary>
    public const int MaxLinks = 128;

    /// <summary>Highest layer. With 4 edges it contains one in 4⁸ nodes, and higher layers would be almost empty.</summary>
    public const int MaxLayer = 8;

    private readonly byte[] _key = new byte[VectorKey.Bytes];
    private readonly HashSet<uint> _visited = [];

    public VectorState State { get; } = state;

    public VectorFieldOptions Options { get; } = options;

    /// <summary>Most links of a node in a layer.</summary>
    public int Limit(int layer) => layer == 0 ? 2 * Options.Edges : Options.Edges;

    /// <summary>The vector of a node.</summary>
    public virtual VectorNode Node(uint node) => NodeOf(Value(vectors, node, "vectors"));

    /// <summary>The vector in the value of a node.</summary>
    /// <exception cref="CorruptionException">The value has the wrong length, or no entry.</exception>
    public VectorNode NodeOf(ReadOnlySpan<byte> value)
    {
        int bytes = VectorNode.BytesOf(State.Dimensions, Options.Metric);
        return value.Length == bytes && new VectorNode(value) is { EntryId: >= 0 } node
            ? node
            : throw new CorruptionException(
                $"A vector field of the index has a damaged node of {value.Length} bytes; its nodes have {bytes}. Reset the "
                    + "index to build it again.");
    }

    /// <summary>Writes the neighbours of a node in a layer; returns their number.</summary>
    public virtual int Links(uint node, int layer, Span<uint> output)
    {
        ReadOnlySpan<byte> value = Value(links, node, "links");
        return ReadLayer(value, layer, output);
    }

    /// <summary>Number of layers of a node.</summary>
    public virtual int Layers(uint node) => LayersOf(Value(links, node, "links"));

    /// <summary>Returns the nearest nodes that the search finds, nearest first.</summary>
    /// <param name="wanted">The vector to search for.</param>
    /// <param name="count">Candidates to keep; more give better results.</param>
    /// <param name="accepts">The entries to return; null for all. Nodes of other entries are still traversed.</param>
    /// <param name="mostVisits">Most nodes to visit.</param>
    /// <param name="isComplete">False if the search ended at <paramref name="mostVisits"/>.</param>
    /// <param name="check">Called every 256 visits; may throw to end the search.</param>
    public List<Neighbour> Search(
        VectorNode wanted, int count, Func<long, bool>? accepts, long mostVisits, out bool isComplete, Action check)
    {
        isComplete = true;
        if (State.Entry == VectorState.NoNode)
            return [];
        var start = new Neighbour(DistanceTo(wanted, State.Entry), State.Entry);
        for (int layer = State.TopLayer; layer > 0; layer--)
            start = Descend(wanted, start, layer);
        return SearchLayer(wanted, [start], count, 0, accepts, mostVisits, out isComplete, check);
    }

    /// <summary>
    /// Moves from node to nearest neighbour as long as that is nearer than the current node; returns the last node.
    /// </summary>
    public Neighbour Descend(VectorNode wanted, Neighbour start, int layer)
    {
        Span<uint> neighbours = stackalloc uint[MaxLinks];
        while (true)
        {
            Neighbour best = start;
            int count = Links(start.Node, layer, neighbours);
            foreach (uint node in neighbours[..count])
            {
                var next = new Neighbour(DistanceTo(wanted, node), node);
                if (next.CompareTo(best) < 0)
                    best = next;
            }

            Debug.Assert(best.CompareTo(start) <= 0, "a descent only gets nearer");
            if (best == start)
                return start;
            start = best;
        }
    }

    /// <summary>Searches one layer, best candidates first.</summary>
    public List<Neighbour> SearchLayer(
        VectorNode wanted, List<Neighbour> starts, int keep, int layer, Func<long, bool>? accepts, long mostVisits,
        out bool isComplete, Action check)
    {
        isComplete = true;
        _visited.Clear();
        var open = new PriorityQueue<uint, Neighbour>();
        var best = new PriorityQueue<uint, Neighbour>(Neighbour.FarthestFirst);
        foreach (Neighbour start in starts)
        {
            _visited.Add(start.Node);
            open.Enqueue(start.Node, start);
            if (accepts is null || accepts(Node(start.Node).EntryId))
                best.Enqueue(start.Node, start);
        }

        Span<uint> neighbours = stackalloc uint[MaxLinks];
        long visits = 0;
        while (open.TryDequeue(out uint node, out Neighbour here))
        {
            if (best.Count >= keep && best.TryPeek(out _, out Neighbour worst) && here.CompareTo(worst) > 0)
                break;
            if ((++visits & 255) == 0)
                check();
            int count = Links(node, layer, neighbours);
            foreach (uint neighbour in neighbours[..count])
            {
                if (!_visited.Add(neighbour))
                    continue;
                if (_visited.Count > mostVisits)
                {
                    isComplete = false;
                    return [];
                }

                VectorNode vector = Node(neighbour);
                if (meter is not null)
                    meter.Count.EntriesScanned++;
                var next = new Neighbour(VectorNode.Distance(wanted, vector, Options.Metric), neighbour);
                bool isFull = best.Count >= keep;
                if (isFull && best.TryPeek(out _, out worst) && next.CompareTo(worst) > 0)
                    continue;
                open.Enqueue(neighbour, next);
                if (accepts is not null && !accepts(vector.EntryId))
                    continue;
                if (isFull)
                    best.EnqueueDequeue(neighbour, next);
                else
                    best.Enqueue(neighbour, next);
            }
        }

        var found = new List<Neighbour>(best.Count);
        while (best.TryDequeue(out _, out Neighbour next))
            found.Add(next);
        found.Reverse();
        return found;
    }

    public float DistanceTo(VectorNode wanted, uint node)
    {
        if (meter is not null)
            meter.Count.EntriesScanned++;
        return VectorNode.Distance(wanted, Node(node), Options.Metric);
    }

    protected static int LayersOf(ReadOnlySpan<byte> value) =>
        value.Length > 0 && value[0] <= MaxLayer + 1 ? value[0] : throw DamagedLinks();

    protected static int ReadLayer(ReadOnlySpan<byte> value, int layer, Span<uint> output)
    {
        if (layer >= LayersOf(value))
            return 0;
        int place = 1;
        for (int i = 0; i < layer && place < value.Length; i++)
            place += 1 + (value[place] * sizeof(uint));
        int count = place < value.Length ? value[place++] : throw DamagedLinks();
        if (count > output.Length || place + (count * sizeof(uint)) > value.Length)
            throw DamagedLinks();
        for (int i = 0; i < count; i++)
            output[i] = BinaryPrimitives.ReadUInt32LittleEndian(value[(place + (i * sizeof(uint)))..]);
        return count;
    }

    protected static CorruptionException DamagedLinks() =>
        new("The index has damaged links between vectors. Reset the index to build it again.");

    protected ReadOnlySpan<byte> Value(Tree? tree, uint node, string what) =>
        tree is not null && tree.TryGet(VectorKey.Write(_key, node), out ReadOnlySpan<byte> value)
            ? value
            : throw new CorruptionException(
                $"The index misses the {what} of node {node} of a vector field. Reset the index to build it again.");
}

/// <summary>A node and its distance. Nearer nodes come first; of equal distances, the older node.</summary>
internal readonly record struct Neighbour(float Distance, uint Node) : IComparable<Neighbour>
{
    public static IComparer<Neighbour> FarthestFirst { get; } = Comparer<Neighbour>.Create(static (x, y) => y.CompareTo(x));

    public int CompareTo(Neighbour other)
    {
        int order = Distance.CompareTo(other.Distance);
        return order != 0 ? order : Node.CompareTo(other.Node);
    }
}
