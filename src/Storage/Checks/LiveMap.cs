using System.Diagnostics;
using System.Runtime.InteropServices;
using Treepie.Storage.Format;
using Treepie.Storage.Paging;

namespace Treepie.Storage.Checks;

/// <summary>
/// Which pages the newest state uses, as far as known. The pages of a damaged bitmap page are unknown unless journal frames
/// mention them.
/// </summary>
internal sealed class LiveMap
{
    private readonly List<ulong[]?> _groups = [];
    private readonly Dictionary<long, bool> _overrides = [];

    /// <summary>Bitmap pages that cannot be read.</summary>
    public List<long> Damaged { get; } = [];

    /// <summary>Reads the bitmap of a checkpoint.</summary>
    public static LiveMap Read(PageStore store, MetaPage meta)
    {
        var map = new LiveMap();
        long groups = (meta.PageCount + FormatLimits.PagesPerBitmap - 1) / FormatLimits.PagesPerBitmap;
        for (int group = 0; group < groups; group++)
        {
            long number = meta.Bitmap.First + group;
            if (group < meta.Bitmap.Pages
                && store.TryRead(number, out Span<byte> bytes)
                && new Page(bytes).Type == PageType.Bitmap
                && new Page(bytes).Birth <= meta.LastTransaction)
            {
                map._groups.Add(MemoryMarshal.Cast<byte, ulong>(bytes[PageLayout.HeaderBytes..]).ToArray());
                continue;
            }

            map._groups.Add(null);
            map.Damaged.Add(number);
        }

        return map;
    }

    /// <summary>Records the state of pages given by a frame.</summary>
    public void Set(PageRun run, bool isLive)
    {
        for (long page = run.First; page < run.First + run.Pages; page++)
            _overrides[page] = isLive;
    }

    /// <summary>Returns whether a page is in use, or null if unknown.</summary>
    public bool? IsLive(long page)
    {
        Debug.Assert(page >= 0, "no page has a negative number");
        if (_overrides.TryGetValue(page, out bool isLive))
            return isLive;

        int group = (int)(page / FormatLimits.PagesPerBitmap), index = (int)(page % FormatLimits.PagesPerBitmap);
        if (group >= _groups.Count)
            return false;
        return _groups[group] is { } words ? (words[index / 64] & (1UL << (index % 64))) != 0 : null;
    }

    /// <summary>Creates a map in which all pages are unknown. Used if no meta page tells where the bitmap is.</summary>
    public static LiveMap Unknown(long pages)
    {
        var map = new LiveMap();
        for (long group = 0; group * FormatLimits.PagesPerBitmap < pages; group++)
            map._groups.Add(null);
        return map;
    }
}
