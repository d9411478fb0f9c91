using System.Diagnostics;
using Treepie.Storage.Files;
using Treepie.Storage.Format;

namespace Treepie.Storage.Paging;

/// <summary>
/// The address spaces of one file: the one in use, and those it has grown out of. A small store has few addresses, and a process
/// room for many stores; one that grows gets eight times as many each time. For the one writer.
/// </summary>
/// <remarks>
/// Who reads goes on with the space it has looked into, so an old one stays as it is until the environment is closed: together
/// they are a seventh of the one in use. The writer alone puts pages into scratch and out of it, so a table that was copied
/// while readers
/// look at it lacks nothing but proofs, which the next reader makes anew: by a call, so that no page is touched in a map that
/// nobody has asked the disk about.
/// </remarks>
internal sealed class PageSpaces : IDisposable
{
    private const int GrowthFactor = 8;

    private readonly IFileSystem _files;
    private readonly IFile _file;
    private readonly bool _isEncrypted;
    private readonly long _limitPages;
    private readonly List<PageSpace> _all = [];

    /// <param name="files">The file system.</param>
    /// <param name="file">The data file.</param>
    /// <param name="firstPages">Pages that the first one has room for at least.</param>
    /// <param name="limitPages">Most pages that any has room for.</param>
    /// <param name="isEncrypted">Whether proven pages lie in a range of their own.</param>
    public PageSpaces(IFileSystem files, IFile file, long firstPages, long limitPages, bool isEncrypted)
    {
        _files = files;
        _file = file;
        _isEncrypted = isEncrypted;
        _limitPages = limitPages;
        long pages = Math.Min(firstPages, limitPages);
        while (pages < limitPages && pages / 2 < file.Length / PageLayout.SizeBytes)
            pages = Larger(pages, GrowthFactor);
        _all.Add(Reserve(pages));
    }

    /// <summary>The newest: the one in use, but for one that could not be taken into use.</summary>
    public PageSpace Last => _all[^1];

    /// <summary>
    /// Makes a larger one, which is not in use yet; where the system has not as many addresses, one that is as large as needed.
    /// </summary>
    /// <param name="pages">Pages it must have room for.</param>
    public PageSpace Grow(long pages)
    {
        for (int factor = GrowthFactor; factor > 1; factor /= 2)
        {
            long wanted = Last.Count;
            while (wanted < pages)
                wanted = Larger(wanted, factor);
            try
            {
                _all.Add(Reserve(wanted));
                Debug.Assert(Last.Count >= pages, "a larger space has room for what it is made for");
                return Last;
            }
            catch (StorageException) when (factor > 2)
            {
                // It asks for less.
            }
        }

        throw new InvalidOperationException("The last attempt throws.");
    }

    public void Dispose()
    {
        foreach (PageSpace space in _all)
            space.Dispose();
    }

    private long Larger(long pages, int factor) => pages > _limitPages / factor ? _limitPages : pages * factor;

    private PageSpace Reserve(long pages) => PageSpace.Reserve(_files, _file, pages, PageLayout.SizeBytes, _isEncrypted);
}
