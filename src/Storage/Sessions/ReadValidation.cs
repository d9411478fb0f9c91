using Treepie.Storage.Format;
using Treepie.Storage.Paging;
using Treepie.Storage.Trees;

namespace Treepie.Storage.Sessions;

/// <summary>
/// Compares two states of a tree in the places a session has read. A page that both states refer to by the same number and
/// birth is identical, with everything below it; so both states are walked together, and only what differs is compared.
/// </summary>
internal static class ReadValidation
{
    /// <summary>Throws <see cref="SessionConflictException"/> if a key or range differs between the two states.</summary>
    public static void Run(
        PageStore store, string treeName, TreeRecord before, TreeRecord after, ReadOnlyMemory<byte>[] keys,
        IReadOnlyList<ReadRange> ranges)
    {
        if (before.Root == after.Root)
            return;

        foreach (ReadOnlyMemory<byte> key in keys)
            if (!IsSame(store, before, after, key.Span))
                throw new SessionConflictException(treeName, key.Span);

        if (ranges.Count == 0)
            return;

        using Cursor old = new Tree(store, treeName, before, null).OpenCursor();
        using Cursor now = new Tree(store, treeName, after, null).OpenCursor();
        foreach (ReadRange range in ranges)
            Compare(treeName, old, now, range);
    }

    private static bool IsSame(PageStore store, in TreeRecord before, in TreeRecord after, ReadOnlySpan<byte> key)
    {
        PageReference left = before.Root, right = after.Root;
        int leftLevel = before.Levels - 1, rightLevel = after.Levels - 1;
        while (leftLevel > 0 || rightLevel > 0)
        {
            if (left == right)
                return true;
            if (leftLevel < 0 || rightLevel < 0)
                break;

            bool isLeftDeeper = leftLevel > rightLevel, isRightDeeper = rightLevel > leftLevel;
            if (!isRightDeeper)
            {
                left = Child(store, left, key);
                leftLevel--;
            }

            if (!isLeftDeeper)
            {
                right = Child(store, right, key);
                rightLevel--;
            }
        }

        if (left == right)
            return true;

        bool was = Tree.TryGet(store, before, key, out ReadOnlySpan<byte> oldValue);
        bool isNow = Tree.TryGet(store, after, key, out ReadOnlySpan<byte> newValue);
        return was == isNow && oldValue.SequenceEqual(newValue);
    }

    private static PageReference Child(PageStore store, PageReference branch, ReadOnlySpan<byte> key)
    {
        var page = new SlottedPage(store.Read(branch));
        return page.Child(page.FindChild(key));
    }

    private static void Compare(string treeName, Cursor old, Cursor now, in ReadRange range)
    {
        bool was = range.Low is { } from ? old.Seek(from.Span) : old.MoveFirst();
        bool isNow = range.Low is { } start ? now.Seek(start.Span) : now.MoveFirst();
        while (true)
        {
            was = was && !range.EndsBefore(old.Key);
            isNow = isNow && !range.EndsBefore(now.Key);
            if (!was && !isNow)
                return;
            if (was != isNow)
                throw new SessionConflictException(treeName, was ? old.Key : now.Key);

            int order = old.Key.SequenceCompareTo(now.Key);
            if (order != 0)
                throw new SessionConflictException(treeName, order < 0 ? old.Key : now.Key);

            int level = old.SharedLevel(now);
            if (level >= 0)
            {
                was = old.MovePast(level);
                isNow = now.MovePast(level);
                continue;
            }

            if (!old.HasSameValue(now))
                throw new SessionConflictException(treeName, old.Key);
            was = old.MoveNext();
            isNow = now.MoveNext();
        }
    }
}
