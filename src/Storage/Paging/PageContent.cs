using Treepie.Storage.Format;

namespace Treepie.Storage.Paging;

/// <summary>Finds and describes faults in the contents of a page.</summary>
internal static class PageContent
{
    /// <summary>Returns the fault of an unencrypted page or run, or null.</summary>
    /// <param name="pages">All of its pages.</param>
    /// <param name="covered">The bytes covered by its checksum.</param>
    public static string? FindFault(Span<byte> pages, Span<byte> covered)
    {
        var page = new Page(covered);
        uint expected = Page.ComputeChecksum(covered);
        if (page.Checksum != expected)
            return $"checksum {page.Checksum:x8} found, {expected:x8} computed (tree {page.TreeId})";
        if (page.Incarnation != 0)
            return $"it is encrypted, and this environment is not (tree {page.TreeId})";
        return PageShape.FindFault(pages) is { } fault ? $"{fault} (tree {page.TreeId})" : null;
    }

    /// <summary>Describes a page whose level is not the one its parent expects.</summary>
    public static string OtherKind(int level, Span<byte> bytes)
    {
        var page = new Page(bytes);
        return $"a page of level {level} was expected, type {page.Type} of level {page.Level} found (tree {page.TreeId})";
    }

    /// <summary>Describes a page whose birth is not the one recorded by its parent.</summary>
    public static string OtherBirth(PageReference reference, Span<byte> bytes)
    {
        var page = new Page(bytes);
        return $"made by transaction {page.Birth}, its parent knows it from {reference.Birth} (tree {page.TreeId}); a write was "
            + $"lost";
    }
}
