using Treepie.Storage.Format;
using Treepie.Storage.Paging;

namespace Treepie.Storage.Trees;

/// <summary>
/// Ways down some trees of one state that are going to be gone one after the other, gone together before, a level at a time: the
/// system is told all pages of a level before the first of them is waited for. Who has n ways to go waits as often as the tallest
/// of the trees has levels, and not n times as often. The leaves themselves are announced and not waited for. Counts nothing, and
/// costs next to nothing where everything is in memory but the ways.
/// </summary>
internal sealed class PathAnnouncement
{
    /// <summary>More are left out: each is a request to the disk for each level.</summary>
    private const int MaxPaths = 64;

    private readonly List<Path> _paths = [];

    /// <summary>Adds the way to a key.</summary>
    /// <param name="tree">The tree; null, or an empty one: there is none.</param>
    /// <param name="key">The key.</param>
    public void Add(Tree? tree, scoped ReadOnlySpan<byte> key)
    {
        if (tree is not null && tree.Record.Levels > 0 && _paths.Count < MaxPaths)
            _paths.Add(new Path(tree.Store, key.ToArray(), tree.Record.Root, tree.Record.Levels - 1, End: 0));
    }

    /// <summary>Adds the root of a tree, where the way goes on to is not known yet.</summary>
    public void AddRoot(Tree? tree)
    {
        if (tree is not null && tree.Record.Levels > 0 && _paths.Count < MaxPaths)
            _paths.Add(new Path(tree.Store, [], tree.Record.Root, tree.Record.Levels - 1, tree.Record.Levels - 1));
    }

    /// <summary>Goes the ways.</summary>
    /// <exception cref="CorruptionException">A page on the way is damaged.</exception>
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
                var branch = new SlottedPage(path.Store.Enter(path.At, path.Level));
                _paths[left++] = path with { At = branch.Child(branch.FindChild(path.Key)), Level = path.Level - 1 };
            }

            going = left;
        }

        _paths.Clear();
    }

    /// <summary>Whether a way before this one is at the same page.</summary>
    private bool IsTold(int index)
    {
        for (int i = 0; i < index; i++)
        {
            if (_paths[i].At.Number == _paths[index].At.Number)
                return true;
        }

        return false;
    }

    /// <summary>How far one way was gone.</summary>
    private readonly record struct Path(PageStore Store, byte[] Key, PageReference At, int Level, int End);
}
