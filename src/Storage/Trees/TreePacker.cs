using System.Diagnostics;
using Treepie.Storage.Format;

namespace Treepie.Storage.Trees;

/// <summary>
/// Packs leaves that random changes have left about two thirds full: rewrites the entries under one branch into full leaves
/// if that frees at least one leaf in eight.
/// </summary>
/// <param name="tree">The tree.</param>
/// <param name="pages">The batch.</param>
internal sealed class TreePacker(Tree tree, PageWriter pages) : TreeRewrite(tree, pages, lowest: LeafParents)
{
    /// <summary>
    /// Number of leaves after which a step ends: some milliseconds, in which other writers wait. All leaves of a branch are
    /// packed in one step.
    /// </summary>
    public const int MaxLeaves = 512;

    /// <summary>Level of the branches directly above the leaves.</summary>
    private const int LeafParents = 1;

    private readonly byte[] _first = new byte[Tree.MaxKeyBytes];
    private readonly byte[] _key = new byte[Tree.MaxKeyBytes];
    private readonly byte[] _before = new byte[Tree.MaxKeyBytes];
    private int _leaves;

    private readonly record struct Place(int Leaf, int Entry);

    /// <summary>Number of leaves freed so far.</summary>
    public int Saved { get; private set; }

    protected override bool IsEnough => _leaves >= MaxLeaves;

    protected override PageReference Rewrite(PageReference reference, int level) =>
        level == LeafParents ? Pack(reference) : reference;

    /// <summary>Packs the leaves under a branch if that frees enough of them; returns the branch.</summary>
    private PageReference Pack(PageReference reference)
    {
        var branch = new SlottedPage(Store.Read(reference, 1));
        var leaves = new PageReference[branch.Count];
        long used = 0;
        for (int i = 0; i < leaves.Length; i++)
        {
            leaves[i] = branch.Child(i);
            used += Leaf(leaves[i]).UsedBytes;
        }

        _leaves += leaves.Length;
        if (used > leaves.Length * (long)PageLayout.ContentBytes * 7 / 8)
            return reference;

        (List<Place> starts, List<byte[]> separators) = Divide(leaves);
        Debug.Assert(starts.Count == separators.Count, "each packed leaf has a separator");
        if (starts.Count < 2 || starts.Count > leaves.Length * 7 / 8 || BranchBytes(separators) > PageLayout.ContentBytes)
            return reference;

        var made = new PageReference[starts.Count];
        for (int i = 0; i < made.Length; i++)
            made[i] = Write(leaves, starts[i], i + 1 < made.Length ? starts[i + 1] : new Place(leaves.Length, 0));
        AssertSameEntries(leaves, made);
        foreach (PageReference leaf in leaves)
            Pages.Free(leaf);
        Saved += leaves.Length - made.Length;

        PageReference own = MakeWritable(reference, LeafParents);
        var page = new SlottedPage(Pages.Bytes(own.Number));
        page.Clear();
        int prefix = Prefix(separators);
        page.SetPrefix(separators[^1].AsSpan(0, prefix), default);
        for (int i = 0; i < made.Length; i++)
            made[i].WritePacked(
                page.InsertSuffix(i, i == 0 ? default : separators[i].AsSpan(prefix), default, PageReference.PackedBytes, false));
        Debug.Assert(page.Count == made.Length, "a branch has an entry for each leaf");
        return own;
    }

    /// <summary>Returns where each packed leaf begins, and the shortest key that is above all keys before it.</summary>
    private (List<Place> Starts, List<byte[]> Separators) Divide(PageReference[] leaves)
    {
        List<Place> starts = [];
        List<byte[]> separators = [];
        int firstLength = 0, beforeLength = 0, count = 0, bytes = 0;
        for (int i = 0; i < leaves.Length; i++)
        {
            SlottedPage leaf = Leaf(leaves[i]);
            for (int entry = 0; entry < leaf.Count; entry++)
            {
                int keyLength = leaf.CopyKey(entry, _key);
                int entryBytes = SlottedPage.EntryBytes(keyLength, leaf.Value(entry, out _).Length);
                int prefix = _first.AsSpan(0, firstLength).CommonPrefixLength(_key.AsSpan(0, keyLength));
                if (starts.Count == 0
                    || prefix + SlottedPage.UnusedHeadBytes(count + 1) + bytes + entryBytes - ((count + 1) * prefix)
                        > PageLayout.ContentBytes)
                {
                    int common = _before.AsSpan(0, beforeLength).CommonPrefixLength(_key.AsSpan(0, keyLength));
                    separators.Add(starts.Count == 0 ? [] : _key[..Math.Min(keyLength, common + 1)]);
                    starts.Add(new Place(i, entry));
                    _key.AsSpan(0, keyLength).CopyTo(_first);
                    (firstLength, count, bytes) = (keyLength, 0, 0);
                }

                count++;
                bytes += entryBytes;
                _key.AsSpan(0, keyLength).CopyTo(_before);
                beforeLength = keyLength;
            }
        }

        return (starts, separators);
    }

    /// <summary>Writes the entries from one place up to another into a new leaf.</summary>
    private PageReference Write(PageReference[] leaves, Place from, Place to)
    {
        Place last = to.Entry > 0 ? to with { Entry = to.Entry - 1 } : new Place(to.Leaf - 1, -1);
        while (last.Entry < 0 && Leaf(leaves[last.Leaf]).Count is var entries)
            last = entries > 0 ? last with { Entry = entries - 1 } : new Place(last.Leaf - 1, -1);

        Debug.Assert(last.Leaf > from.Leaf || (last.Leaf == from.Leaf && last.Entry >= from.Entry), "a leaf has entries");
        Debug.Assert(from.Entry < Leaf(leaves[from.Leaf]).Count, "a packed leaf begins with an entry that there is");
        PageReference made = Pages.New(Tree.Record.Id, PageType.Leaf, 0);
        var page = new SlottedPage(Pages.Bytes(made.Number));
        int firstLength = Leaf(leaves[from.Leaf]).CopyKey(from.Entry, _first),
            lastLength = Leaf(leaves[last.Leaf]).CopyKey(last.Entry, _key);
        int prefix = from == last ? 0 : _first.AsSpan(0, firstLength).CommonPrefixLength(_key.AsSpan(0, lastLength));
        page.SetPrefix(_first.AsSpan(0, prefix), default);
        for (int i = from.Leaf; i <= last.Leaf; i++)
        {
            SlottedPage leaf = Leaf(leaves[i]);
            page.Append(leaf, i == from.Leaf ? from.Entry : 0, i == last.Leaf ? last.Entry + 1 : leaf.Count);
        }

        return made;
    }

    [Conditional("DEBUG")]
    private void AssertSameEntries(PageReference[] before, PageReference[] after)
    {
        int entries = 0;
        foreach (PageReference leaf in before)
            entries += Leaf(leaf).Count;
        foreach (PageReference leaf in after)
            entries -= Leaf(leaf).Count;
        Debug.Assert(entries == 0, "packing keeps every entry");
    }

    private SlottedPage Leaf(PageReference reference) => new(Store.Read(reference, 0));

    private static int BranchBytes(List<byte[]> separators)
    {
        int prefix = Prefix(separators);
        return prefix + SlottedPage.UnusedHeadBytes(separators.Count)
            + separators.Sum(separator => SlottedPage.EntryBytes(separator.Length, PageReference.PackedBytes))
            - ((separators.Count - 1) * prefix);
    }

    /// <summary>Length of the common prefix of the keys of the branch; the first key is empty and not counted.</summary>
    private static int Prefix(List<byte[]> separators) =>
        separators.Count < 3 ? 0 : separators[1].AsSpan().CommonPrefixLength(separators[^1]);
}
