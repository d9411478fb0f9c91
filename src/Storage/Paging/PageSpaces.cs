using System.Diagnostics;
using Treepie.Storage.Files;
using Treepie.Storage.Format;

namespace Treepie.Storage.Paging;

/// <summary>
/// The address spaces of one file: the current one, and those it has outgrown. A small store reserves few addresses, so that
/// a process has room for many stores; each growth multiplies them by eight. Must be used by the one writer only.
/// </summary>
/// <remarks>
/// A reader keeps using the space in which it looked up a page, so old ones remain unchanged until the environment is closed:
/// together they are a seventh of the current one. Only the writer places pages into scratch or removes them, so a table
/// copied while readers use it can only lack verified states. The next reader verifies those pages again, loading them by a
/// system call, so that no page of the new map is touched before the disk has delivered it.
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
    /// <param name="firstPages">Minimum number of pages of the first space.</param>
    /// <param name="limitPages">Maximum number of pages of any space.</param>
    /// <param name="isEncrypted">Whether verified pages have a range of their own.</param>
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

    /// <summary>The newest space: the current one, or one that could not be put into use.</summary>
    public PageSpace Last => _all[^1];

    /// <summary>
    /// Reserves a larger space, which is not in use yet; if the system does not have enough addresses, grows by a smaller
    /// factor.
    /// </summary>
    /// <param name="pages">Number of pages it must have room for.</param>
    public PageSpace Grow(long pages)
    {
        Debug.Assert(pages <= _limitPages, "no space is larger than the limit");
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
                // Retried with a smaller factor.
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
