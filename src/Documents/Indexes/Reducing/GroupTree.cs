using System.Buffers.Binary;
using System.Diagnostics;
using System.Runtime.InteropServices;
using System.Text;
using Treepie.Computations;
using Treepie.Indexes.States;

namespace Treepie.Indexes.Reducing;

/// <summary>
/// The tree of partial results of one group. The places of mapped results are hashes, and a node covers all places that
/// start with the same bits: a node of at most <see cref="MostOfLeaf"/> results is a leaf, which reduces them; any other
/// node is a branch, which reduces the results of its four children. So the shape of the tree depends on its contents only,
/// not on their history, and an index is the same function of its documents however it was built. A change requires reducing
/// one leaf and the branches above it, whose number is logarithmic in the size of the group.
/// </summary>
/// <remarks>
/// Invariants: (1) a node is stored if and only if there is a mapped result below it and its parent is a branch, or it is
/// the root; (2) the count of a branch is the sum of those of its children.
/// </remarks>
internal sealed class GroupTree(ReduceState state, IndexReduce reduce, ReduceCounters counters)
{
    /// <summary>The maximum number of mapped results in a leaf.</summary>
    public const int MostOfLeaf = 128;

    /// <summary>A described node counts once more for each so many bytes of its results.</summary>
    private const int BytesOfDescribed = 16 * 1024;

    private const int Children = 4, BitsOfLevel = 2, MaxLevel = 64 / BitsOfLevel;

    private readonly MapOutput _output = new();
    private byte[] _group = [];

    /// <summary>Returns the stored result of a group.</summary>
    public GroupNode Find(byte[] group)
    {
        _group = group;
        return Read(0, 0);
    }

    /// <summary>Updates the partial results of a group after changes of mapped results.</summary>
    /// <param name="group">The key of the group.</param>
    /// <param name="changes">The changes, ordered by place.</param>
    /// <returns>The new result of the group.</returns>
    public GroupNode Update(byte[] group, ReadOnlySpan<GroupChange> changes)
    {
        _group = group;
        return Update(0, 0, changes);
    }

    /// <summary>Returns the tree of a group as it is stored, at most so many nodes of it.</summary>
    /// <param name="group">The key of the group.</param>
    /// <param name="most">How many nodes are returned at most, at least 1; afterwards how many are left, or -1 if some were left
    /// out. A node with large results counts several times.</param>
    public PartialResult Describe(byte[] group, ref int most)
    {
        _group = group;
        return Describe(0, 0, ref most);
    }

    private PartialResult Describe(int level, ulong first, ref int most)
    {
        GroupNode node = Read(level, first);
        long bytes = node.Objects.Sum(static one => (long)one.Length);
        most = (int)Math.Max(0, most - 1 - (bytes / BytesOfDescribed));
        var children = new List<PartialResult>();
        bool isBranch = node.Count > MostOfLeaf && level < MaxLevel;
        for (int child = 0; isBranch && child < Children; child++)
        {
            ulong start = ChildStart(level, first, child);
            if (Read(level + 1, start).Count == 0)
                continue;
            if (most <= 0)
            {
                most = -1;
                break;
            }

            children.Add(Describe(level + 1, start, ref most));
        }

        return new PartialResult(
            node.Count, [.. node.Objects.Select(static one => Encoding.UTF8.GetString(one.Span))], node.Error, children);
    }

    private GroupNode Update(int level, ulong first, ReadOnlySpan<GroupChange> changes)
    {
        GroupNode old = Read(level, first);
        long count = old.Count;
        foreach (GroupChange change in changes)
            count += change.Delta;
        Debug.Assert(count >= 0, "no more results go than there are");

        bool wasBranch = old.Count > MostOfLeaf && level < MaxLevel, isBranch = count > MostOfLeaf && level < MaxLevel;
        if (wasBranch && !isBranch)
            DeleteBelow(level, first);
        if (count == 0)
        {
            state.Groups.Delete(NodeKey(level, first));
            return GroupNode.Empty;
        }

        // Children of a former leaf are not stored: to them, all results below the node are new.
        ReadOnlySpan<GroupChange> changesBelow = isBranch && !wasBranch
            ? CollectionsMarshal.AsSpan(Below(level, first))
            : changes;
        List<ReadOnlyMemory<byte>>? parts = AddedTo(old, changes);
        GroupNode node = isBranch ? ReduceBranch(level, first, count, changesBelow, parts)
            : Reduce(count, parts ?? Leaf(level, first, count));
        state.Groups.Put(NodeKey(level, first), node.Write());
        return node;
    }

    /// <summary>
    /// Returns the existing result of a node and the objects added to it, where reducing them gives the new result; null where
    /// the node must be reduced from its objects or children.
    /// </summary>
    private List<ReadOnlyMemory<byte>>? AddedTo(GroupNode old, ReadOnlySpan<GroupChange> changes)
    {
        if (!reduce.AddsUp || old.Error is not null)
            return null;
        var parts = new List<ReadOnlyMemory<byte>>(old.Objects);
        foreach (GroupChange change in changes)
        {
            if (change is not { Delta: 1, Json: { } json })
                return null;
            parts.Add(json);
        }

        return parts;
    }

    /// <param name="level">The depth below the root.</param>
    /// <param name="first">The first place below it.</param>
    /// <param name="count">The number of mapped results below it.</param>
    /// <param name="changes">The changes to apply to its children.</param>
    /// <param name="parts">The objects to reduce; null for the results of its children.</param>
    private GroupNode ReduceBranch(
        int level, ulong first, long count, ReadOnlySpan<GroupChange> changes, List<ReadOnlyMemory<byte>>? parts)
    {
        var objects = new List<ReadOnlyMemory<byte>>();
        string? error = null;
        long sum = 0;
        for (int child = 0; child < Children; child++)
        {
            ulong start = ChildStart(level, first, child);
            int own = CountBelow(level + 1, start, changes);
            if (own == 0 && parts is not null)
                continue;
            GroupNode node = own > 0 ? Update(level + 1, start, changes[..own]) : Read(level + 1, start);
            changes = changes[own..];
            sum += node.Count;
            error ??= node.Error;
            objects.AddRange(node.Objects);
        }

        Debug.Assert(parts is not null || sum == count, "a branch has what its children have (2)");
        return error is null ? Reduce(count, parts ?? objects) : new GroupNode(count, [], error);
    }

    private List<ReadOnlyMemory<byte>> Leaf(int level, ulong first, long count)
    {
        var objects = new List<ReadOnlyMemory<byte>>((int)Math.Min(count, MostOfLeaf));
        Visit(level, first, (_, value) => objects.Add(value.ToArray()));
        Debug.Assert(objects.Count == count, "a leaf has what its count says");
        return objects;
    }

    private GroupNode Reduce(long count, List<ReadOnlyMemory<byte>> objects)
    {
        counters.Reduces++;
        counters.Reduced += objects.Count;
        _output.Clear();
        if (objects.Count == 0)
            return new GroupNode(count, []); // a reduce may return nothing
        try
        {
            reduce.Reduce(objects, _output);
        }
        catch (ComputationException error)
        {
            counters.Errors++;
            return new GroupNode(count, [], error.Message);
        }

        return new GroupNode(
            count, [.. Enumerable.Range(0, _output.Count).Select(i => (ReadOnlyMemory<byte>)_output[i].ToArray())]);
    }

    private List<GroupChange> Below(int level, ulong first)
    {
        var below = new List<GroupChange>();
        Visit(level, first, (key, value) => below.Add(new GroupChange(key.ToArray(), 1, value.ToArray())));
        return below;
    }

    private delegate void ResultVisitor(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value);

    /// <summary>Visits all mapped results of a node, ordered by place.</summary>
    private void Visit(int level, ulong first, ResultVisitor visit)
    {
        byte[] group = _group, from = new byte[group.Length + sizeof(ulong)];
        group.CopyTo(from, 0);
        BinaryPrimitives.WriteUInt64BigEndian(from.AsSpan(group.Length), first);
        state.Mapped.Scan(from, (key, value) =>
        {
            if (!key.StartsWith(group) || !IsBelow(level, first, BinaryPrimitives.ReadUInt64BigEndian(key[group.Length..])))
                return false;
            visit(key, value);
            return true;
        });
    }

    private void DeleteBelow(int level, ulong first)
    {
        for (int child = 0; child < Children; child++)
        {
            ulong start = ChildStart(level, first, child);
            long count = Read(level + 1, start).Count;
            if (count == 0)
                continue;
            if (count > MostOfLeaf && level + 1 < MaxLevel)
                DeleteBelow(level + 1, start);
            state.Groups.Delete(NodeKey(level + 1, start));
        }
    }

    private static int CountBelow(int level, ulong first, ReadOnlySpan<GroupChange> changes)
    {
        int count = 0;
        while (count < changes.Length && IsBelow(level, first, changes[count].Prefix))
            count++;
        return count;
    }

    private static bool IsBelow(int level, ulong first, ulong prefix) =>
        level == 0 || prefix >> (64 - (level * BitsOfLevel)) == first >> (64 - (level * BitsOfLevel));

    private GroupNode Read(int level, ulong first) =>
        state.Groups.TryGet(NodeKey(level, first), out ReadOnlySpan<byte> value) ? GroupNode.Read(value) : GroupNode.Empty;

    private static ulong ChildStart(int level, ulong first, int child) =>
        first | ((ulong)child << (64 - ((level + 1) * BitsOfLevel)));

    private byte[] NodeKey(int level, ulong first)
    {
        byte[] key = new byte[_group.Length + 1 + sizeof(ulong)];
        _group.CopyTo(key, 0);
        key[_group.Length] = (byte)level;
        BinaryPrimitives.WriteUInt64BigEndian(key.AsSpan(_group.Length + 1), first);
        return key;
    }
}
