using Treepie.Storage.Format;

namespace Treepie.Storage.Paging;

/// <summary>Says what is wrong with the bytes of a page that lies where it belongs.</summary>
internal static class PageContent
{
    /// <summary>What is wrong with a plain page or run, or null.</summary>
    /// <param name="pages">All of its pages.</param>
    /// <param name="covered">What its checksum covers.</param>
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

    /// <summary>A page that is not of the level that its parent expects.</summary>
    public static string OtherKind(int level, Span<byte> bytes)
    {
        var page = new Page(bytes);
        return $"a page of level {level} was expected, type {page.Type} of level {page.Level} found (tree {page.TreeId})";
    }

    /// <summary>A page that is not of the transaction that its parent knows it from.</summary>
    public static string OtherBirth(PageReference reference, Span<byte> bytes)
    {
        var page = new Page(bytes);
        return $"made by transaction {page.Birth}, its parent knows it from {reference.Birth} (tree {page.TreeId}); a write was "
            + $"lost";
    }
}
