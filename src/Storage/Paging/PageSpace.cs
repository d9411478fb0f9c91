using System.Diagnostics;
using Treepie.Storage.Files;
using Treepie.Storage.Memory;

namespace Treepie.Storage.Paging;

/// <summary>
/// Address space for the pages of a file up to a number: the page table, the map of the file, and the range where readers
/// find verified pages, which is the map itself or the decrypted pages. A file that outgrows it gets another space; readers
/// may go on using this one.
/// </summary>
internal sealed class PageSpace : PageAddresses, IDisposable
{
    private PageSpace(AddressRange table, IFileMap map, AddressRange proven, long count)
        : base(table, proven, count)
    {
        Map = map;
    }

    /// <summary>The map of the file.</summary>
    public IFileMap Map { get; }

    /// <summary>Reserves addresses for a number of pages.</summary>
    /// <param name="files">The file system.</param>
    /// <param name="file">The data file.</param>
    /// <param name="pages">Number of pages.</param>
    /// <param name="pageBytes">Size of a page in bytes.</param>
    /// <param name="isEncrypted">Whether verified pages have a range of their own.</param>
    public static PageSpace Reserve(IFileSystem files, IFile file, long pages, int pageBytes, bool isEncrypted)
    {
        AddressRange? table = null;
        IFileMap? map = null;
        try
        {
            table = AddressRange.Reserve(pages * sizeof(uint), files.Calls);
            table.Commit(0, table.Length);
            map = files.Map(file, pages * pageBytes);
            AddressRange proven = isEncrypted ? AddressRange.Reserve(pages * pageBytes, files.Calls) : map.Range;
            return new PageSpace(table, map, proven, pages);
        }
        catch
        {
            map?.Dispose();
            table?.Dispose();
            throw;
        }
    }

    /// <summary>Copies the entries greater than a value, which are those of pages in scratch.</summary>
    public void CopyEntriesAbove(uint entry, PageSpace before, long pages)
    {
        Debug.Assert(pages <= Count && pages <= before.Count, "both have entries for these pages");
        for (long number = 0; number < pages; number++)
        {
            uint found = before.Find(number);
            if (found > entry)
                Write(number, found);
        }
    }

    public void Dispose()
    {
        Map.Dispose();
        Pages.Dispose();
        Table.Dispose();
    }
}
