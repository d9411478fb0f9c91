using System.Diagnostics;
using Treepie.Storage.Format;
using Treepie.Storage.Paging;

namespace Treepie.Storage.Trees;

/// <summary>
/// Prefetches from disk the paths of several descents that will follow, by descending all of them level by level: all pages
/// of a level are announced to the system before the first one is waited for. So n descents wait as often as the tallest tree
/// has levels, not n times as often. The leaves are announced but not waited for. Counts no page visits; if everything is in
/// memory, it costs only the descents.
/// </summary>
internal sealed class PathAnnouncement
{
    /// <summary>Maximum number of paths, since each costs a disk request per level; further ones are ignored.</summary>
    private const int MaxPaths = 64;

    private readonly List<Path> _paths = [];

    /// <summary>Adds the path to a key.</summary>
    /// <param name="tree">The tree; null and empty trees are ignored.</param>
    /// <param name="key">The key.</param>
    public void Add(Tree? tree, scoped ReadOnlySpan<byte> key)
    {
        if (tree is not null && tree.Record.Levels > 0 && _paths.Count < MaxPaths)
            _paths.Add(new Path(tree.Store, key.ToArray(), tree.Record.Root, tree.Record.Levels - 1, End: 0));
    }

    /// <summary>Adds only the root of a tree, for a key that is not known yet.</summary>
    public void AddRoot(Tree? tree)
    {
        if (tree is not null && tree.Record.Levels > 0 && _paths.Count < MaxPaths)
            _paths.Add(new Path(tree.Store, [], tree.Record.Root, tree.Record.Levels - 1, tree.Record.Levels - 1));
    }

    /// <summary>Descends the paths.</summary>
    /// <exception cref="CorruptionException">A page on the path is damaged.</exception>
    public void Run()
    {
        for (int going = _paths.Count; going > 0;)
        {
            for (int i = 0; i < going; i++)
            {
                Path path = _paths[i];
                if (path.Store.IsUnseen(path.At.Number) && !IsTold(i))
                    path.Store.Announce(path.At.Number, 1);
            }

            int left = 0;
            for (int i = 0; i < going; i++)
            {
                Path path = _paths[i];
                if (path.Level == path.End)
                    continue;
                Debug.Assert(path.Level > path.End && path.End >= 0, "a path goes down to its end");
                var branch = new SlottedPage(path.Store.Enter(path.At, path.Level));
                _paths[left++] = path with { At = branch.Child(branch.FindChild(path.Key)), Level = path.Level - 1 };
            }

            going = left;
        }

        _paths.Clear();
    }

    /// <summary>Whether an earlier path is at the same page.</summary>
    private bool IsTold(int index)
    {
        for (int i = 0; i < index; i++)
        {
            if (_paths[i].At.Number == _paths[index].At.Number)
                return true;
        }

        return false;
    }

    /// <summary>The position of one descent.</summary>
    private readonly record struct Path(PageStore Store, byte[] Key, PageReference At, int Level, int End);
}
