using System.Buffers.Binary;
using System.Diagnostics;
using Treepie.Indexing.Schema;
using Treepie.Storage;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Vectors;

/// <summary>
/// Changes a graph in one write transaction and asserts the invariants of <see cref="VectorGraph"/>. Links that were read are
/// kept in memory; those that were changed are written once, in order, by <see cref="Flush"/>. Up to <see cref="MaxKept"/>
/// vectors are cached. The layer of a node is derived from its number, so the same changes produce the same graph.
/// </summary>
internal sealed class VectorGraphEditor(Tree vectors, Tree links, VectorState state, VectorFieldOptions options)
    : VectorGraph(vectors, links, state, options)
{
    /// <summary>Most vectors cached in memory: with 1,024 numbers each, 64 MB.</summary>
    private const int MaxKept = 64 * 1024;

    private readonly Tree _vectors = vectors;
    private readonly Tree _links = links;
    private readonly Dictionary<uint, List<uint>[]> _read = [];
    private readonly HashSet<uint> _edited = [];
    private readonly Dictionary<uint, byte[]> _kept = [];

    /// <summary>The number of nodes whose links <see cref="Flush"/> will write.</summary>
    public int EditedCount => _edited.Count;

    public override VectorNode Node(uint node)
    {
        if (_kept.TryGetValue(node, out byte[]? bytes))
            return new VectorNode(bytes);

        if (_kept.Count >= MaxKept)
            _kept.Clear();
        bytes = Value(_vectors, node, "vectors").ToArray();
        _kept.Add(node, bytes);
        return NodeOf(bytes);
    }

    public override int Links(uint node, int layer, Span<uint> output)
    {
        List<uint>[] layers = Read(node);
        if (layer >= layers.Length)
            return 0;
        layers[layer].CopyTo(output);
        return layers[layer].Count;
    }

    public override int Layers(uint node) => Read(node).Length;

    /// <summary>Adds a node and links it; returns its number.</summary>
    public uint Insert(byte[] node, CancellationToken cancellationToken)
    {
        uint number = State.NextNode++;
        int top = LayerOf(number);
        Debug.Assert(number != VectorState.NoNode && !_read.ContainsKey(number), "numbers of nodes are never reused");
        _kept[number] = node;
        Span<byte> key = stackalloc byte[VectorKey.Bytes];
        _vectors.Put(VectorKey.Write(key, number), node);
        _edited.Add(number);
        _read[number] = [.. Enumerable.Range(0, top + 1).Select(_ => new List<uint>())];
        State.Count++;
        if (State.Entry == VectorState.NoNode)
        {
            State.Entry = number;
            State.TopLayer = top;
            return number;
        }

        Connect(number, new VectorNode(node), top, cancellationToken);
        if (top > State.TopLayer)
        {
            State.Entry = number;
            State.TopLayer = top;
        }

        return number;
    }

    /// <summary>
    /// Removes a node. Its neighbours are linked by their minimum spanning tree, so that nodes reached through it remain
    /// reachable.
    /// </summary>
    public void Remove(uint node)
    {
        uint[][] neighbours = Array.ConvertAll(Read(node), static layer => layer.ToArray());
        for (int layer = 0; layer < neighbours.Length; layer++)
        {
            foreach (uint neighbour in neighbours[layer])
                Unlink(node, neighbour, layer);
            LinkByShortestTree(neighbours[layer], layer);
        }

        _edited.Remove(node);
        _read.Remove(node);
        _kept.Remove(node);
        Span<byte> key = stackalloc byte[VectorKey.Bytes];
        _vectors.Delete(VectorKey.Write(key, node));
        _links.Delete(VectorKey.Write(key, node));
        State.Count--;
        Debug.Assert(State.Count >= 0, "only existing nodes are removed");
        if (State.Entry == node)
            ChooseEntry(neighbours);
    }

    /// <summary>Writes all changes.</summary>
    public void Flush()
    {
        Span<byte> key = stackalloc byte[VectorKey.Bytes];
        byte[] value = new byte[1 + ((MaxLayer + 1) * (1 + (MaxLinks * sizeof(uint))))];
        foreach (uint node in _edited.Order())
        {
            List<uint>[] layers = _read[node];
            int length = 1;
            value[0] = (byte)layers.Length;
            foreach (List<uint> layer in layers)
            {
                Debug.Assert(layer.Count <= MaxLinks, "3: links of a layer fit their count");
                value[length++] = (byte)layer.Count;
                foreach (uint neighbour in layer)
                {
                    BinaryPrimitives.WriteUInt32LittleEndian(value.AsSpan(length), neighbour);
                    length += sizeof(uint);
                }
            }

            _links.Put(VectorKey.Write(key, node), value.AsSpan(0, length));
        }

        State.Write(_links);
        _edited.Clear();
        _read.Clear();
        _kept.Clear();
    }

    /// <summary>The highest layer of a node: one in <c>Edges</c> nodes of each layer is in the next.</summary>
    private int LayerOf(uint node)
    {
        ulong hash = unchecked((node + 1) * 0x9E3779B97F4A7C15UL);
        hash = unchecked((hash ^ (hash >> 30)) * 0xBF58476D1CE4E5B9UL);
        hash = unchecked((hash ^ (hash >> 27)) * 0x94D049BB133111EBUL);
        double drawn = ((hash >> 11) + 1) * (1.0 / (1UL << 53));
        return Math.Min(MaxLayer, (int)(-Math.Log(drawn) / Math.Log(Options.Edges)));
    }

    private void Connect(uint number, VectorNode vector, int top, CancellationToken cancellationToken)
    {
        Debug.Assert(
            State.Entry != VectorState.NoNode && top is >= 0 and <= MaxLayer, "a node is connected to a graph that has an entry");
        var start = new Neighbour(DistanceTo(vector, State.Entry), State.Entry);
        for (int layer = State.TopLayer; layer > top; layer--)
            start = Descend(vector, start, layer);

        List<Neighbour> starts = [start];
        for (int layer = Math.Min(top, State.TopLayer); layer >= 0; layer--)
        {
            List<Neighbour> near = SearchLayer(
                vector, starts, Options.IndexingCandidates, layer, null, long.MaxValue, out _,
                cancellationToken.ThrowIfCancellationRequested);
            foreach (Neighbour chosen in Choose(near, Options.Edges, layer))
                Link(number, chosen.Node, layer);
            starts = near;
        }
    }

    /// <summary>
    /// Chooses neighbours in different directions: of the candidates, nearest first, those that are nearer to the node than
    /// to any neighbour chosen before. Remaining places are filled with the nearest of the others. Of equal distances, those
    /// with few links come first: links to the same few nodes would take the places of one another.
    /// </summary>
    private List<Neighbour> Choose(List<Neighbour> candidates, int count, int layer)
    {
        Span<uint> links = stackalloc uint[MaxLinks];
        var order = new (float Distance, int Links, uint Node)[candidates.Count];
        for (int i = 0; i < order.Length; i++)
            order[i] = (candidates[i].Distance, Links(candidates[i].Node, layer, links), candidates[i].Node);
        Array.Sort(order);
        candidates = [.. order.Select(static one => new Neighbour(one.Distance, one.Node))];
        var chosen = new List<Neighbour>(count);
        var others = new List<Neighbour>();
        foreach (Neighbour candidate in candidates)
        {
            if (chosen.Count == count)
                break;
            if (IsNewDirection(candidate, chosen))
                chosen.Add(candidate);
            else
                others.Add(candidate);
        }

        for (int i = 0; i < others.Count && chosen.Count < count; i++)
            chosen.Add(others[i]);
        return chosen;
    }

    private bool IsNewDirection(Neighbour candidate, List<Neighbour> chosen)
    {
        VectorNode vector = Node(candidate.Node);
        foreach (Neighbour other in chosen)
        {
            if (DistanceTo(vector, other.Node) < candidate.Distance)
                return false;
            // Equal vectors are equally far from the node; most distances differ, which is cheap to see.
            if (other.Distance.Equals(candidate.Distance) && vector.HasVectorOf(Node(other.Node)))
                return false;
        }

        return true;
    }

    private void Link(uint left, uint right, int layer)
    {
        if (left == right || Layer(left, layer).Contains(right))
            return;
        List<uint> fromLeft = Edit(left, layer), fromRight = Edit(right, layer);
        if (fromRight.Contains(left))
            throw DamagedLinks();
        fromLeft.Add(right);
        fromRight.Add(left);
        Shrink(left, layer);
        Shrink(right, layer);
        Debug.Assert(fromLeft.Contains(right) == fromRight.Contains(left), "1: links go both ways");
        Debug.Assert(fromLeft.Count <= Limit(layer) && fromRight.Count <= Limit(layer), "3: links are limited");
    }

    private void Unlink(uint left, uint right, int layer)
    {
        if (!Edit(left, layer).Remove(right) || !Edit(right, layer).Remove(left))
            throw DamagedLinks();
    }

    /// <summary>
    /// Removes a link of a node that has too many, by preference one in a direction that another link covers: the longest whose
    /// other end has more than a few links, and so remains reachable.
    /// </summary>
    private void Shrink(uint node, int layer)
    {
        List<uint> neighbours = Layer(node, layer);
        if (neighbours.Count <= Limit(layer))
            return;

        VectorNode vector = Node(node);
        var near = new List<Neighbour>(neighbours.Count);
        foreach (uint neighbour in neighbours)
            near.Add(new Neighbour(DistanceTo(vector, neighbour), neighbour));
        near.Sort();
        var chosen = new List<Neighbour>(near.Count);
        int few = Math.Max(2, Options.Edges / 4);
        Neighbour? covered = null;
        bool areSomeEqual = false;
        for (int i = 0; i < near.Count; i++)
        {
            areSomeEqual |= i > 0 && near[i].Distance.Equals(near[i - 1].Distance);
            if (IsNewDirection(near[i], chosen))
                chosen.Add(near[i]);
            else if (Layer(near[i].Node, layer).Count > few)
                covered = near[i];
        }

        // Only where vectors may be equal is it likely that a neighbour is reachable through nothing but this link.
        Neighbour gone = covered is { } longest && !areSomeEqual ? longest : LeastNeeded(near, chosen, layer);
        Unlink(node, gone.Node, layer);
    }

    /// <summary>
    /// Returns the neighbour of which the link goes, where many vectors may be equal: in a direction that another link covers,
    /// the farthest that is linked to a further neighbour, else the farthest that has more than a few links. If there is neither,
    /// one in a direction of its own that is linked to a further neighbour, or the one with most links.
    /// </summary>
    private Neighbour LeastNeeded(List<Neighbour> near, List<Neighbour> chosen, int layer)
    {
        int few = Math.Max(2, Options.Edges / 4);
        HashSet<uint> own = [.. near.Select(static neighbour => neighbour.Node)],
            directions = [.. chosen.Select(static neighbour => neighbour.Node)];
        Neighbour? safe = null, covered = null, bridged = null, crowded = null;
        int most = 0;
        foreach (Neighbour neighbour in near)
        {
            List<uint> others = Layer(neighbour.Node, layer);
            bool isBridged = others.Exists(own.Contains);
            if (isBridged)
                bridged = neighbour;
            if (others.Count >= most)
                (crowded, most) = (neighbour, others.Count);
            if (directions.Contains(neighbour.Node))
                continue;
            if (isBridged)
                safe = neighbour;
            else if (others.Count > few)
                covered = neighbour;
        }

        return safe ?? covered ?? bridged ?? crowded ?? near[^1];
    }

    private void LinkByShortestTree(uint[] nodes, int layer)
    {
        if (nodes.Length < 2)
            return;
        var nearest = new (float Distance, int To)[nodes.Length];
        bool[] isIn = new bool[nodes.Length];
        Array.Fill(nearest, (float.PositiveInfinity, 0));
        int added = 0;
        for (int step = 1; step < nodes.Length; step++)
        {
            isIn[added] = true;
            VectorNode vector = Node(nodes[added]);
            int next = -1;
            for (int i = 0; i < nodes.Length; i++)
            {
                if (isIn[i])
                    continue;
                float distance = DistanceTo(vector, nodes[i]);
                if (distance < nearest[i].Distance)
                    nearest[i] = (distance, added);
                if (next < 0 || nearest[i].Distance < nearest[next].Distance)
                    next = i;
            }

            Debug.Assert(next >= 0 && isIn[nearest[next].To], "each step links a node to the tree");
            Link(nodes[nearest[next].To], nodes[next], layer);
            added = next;
        }
    }

    /// <summary>
    /// Chooses a new entry node after the old one was removed: one of its neighbours in the highest layer in which it had any,
    /// otherwise any node.
    /// </summary>
    private void ChooseEntry(uint[][] neighbours)
    {
        Debug.Assert(!_read.ContainsKey(State.Entry), "another entry is chosen once the old one is removed");
        uint[]? highest = Array.FindLast(neighbours, static layer => layer.Length > 0);
        State.Entry = highest is not null ? highest[0] : FirstNode();
        State.TopLayer = State.Entry == VectorState.NoNode ? 0 : Layers(State.Entry) - 1;
    }

    private uint FirstNode()
    {
        using Cursor cursor = _vectors.OpenCursor();
        return cursor.MoveFirst() ? VectorKey.Read(cursor.Key) : VectorState.NoNode;
    }

    /// <summary>Returns the links of a node in a layer, to change them.</summary>
    private List<uint> Edit(uint node, int layer)
    {
        _edited.Add(node);
        return Layer(node, layer);
    }

    /// <summary>Returns the links of a node in a layer.</summary>
    /// <exception cref="CorruptionException">The node is not in the layer, although another links to it there.</exception>
    private List<uint> Layer(uint node, int layer)
    {
        List<uint>[] layers = Read(node);
        return layer < layers.Length ? layers[layer] : throw DamagedLinks();
    }

    private List<uint>[] Read(uint node)
    {
        if (_read.TryGetValue(node, out List<uint>[]? layers))
            return layers;

        ReadOnlySpan<byte> value = Value(_links, node, "links");
        layers = new List<uint>[LayersOf(value)];
        Span<uint> neighbours = stackalloc uint[MaxLinks];
        for (int i = 0; i < layers.Length; i++)
        {
            int count = ReadLayer(value, i, neighbours);
            if (count > Limit(i))
                throw DamagedLinks();
            layers[i] = [.. neighbours[..count]];
        }

        _read.Add(node, layers);
        return layers;
    }
}
