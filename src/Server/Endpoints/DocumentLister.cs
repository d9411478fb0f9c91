using Treepie.Server.Http;
using Treepie.Store;

namespace Treepie.Server.Endpoints;

/// <summary>
/// Lists documents whose ids start with a prefix, in id order, or all documents, most recently changed first; in pages.
/// </summary>
internal static class DocumentLister
{
    public static async Task ListAsync(ServerRequest request, Database database)
    {
        bool metadataOnly = request.Flag("metadataOnly");
        long start = request.Number("start", 0);
        long pageSize = request.Number("pageSize", long.MaxValue);
        await request.Turn.TakeAsync(request.Aborted).ConfigureAwait(false); // a list may read all documents
        using DatabaseSnapshot snapshot = database.BeginRead();
        string etag = snapshot.ChangeVector;
        if (etag.Length > 0 && request.ChangeVectorHeader("If-None-Match") == etag)
        {
            request.EndEmpty(StatusCodes.Status304NotModified);
            return;
        }

        using DocumentCursor cursor = Open(request, snapshot);
        if (etag.Length > 0)
            request.SetETag(etag);

        ResponseBody output = request.BeginJsonBody();
        output.Write("{\"Results\":["u8);
        long returned = 0;
        bool more = Skip(request, cursor, start);
        while (more && returned < pageSize && cursor.MoveNext())
        {
            if (returned++ > 0)
                output.Write(","u8);

            cursor.Current.WriteTo(output, metadataOnly);
            snapshot.ReleasePages(); // the response buffer has a copy
            await request.PauseAsync().ConfigureAwait(false);
        }

        output.Write("],\"Includes\":{},\"NextPageStart\":"u8);
        output.WriteNumber(start + returned);
        output.Write("}"u8);
    }

    /// <summary>Opens a cursor for <c>startsWith</c>, <c>matches</c>, <c>exclude</c> and <c>startAfter</c>.</summary>
    public static DocumentCursor Open(ServerRequest request, DatabaseSnapshot snapshot)
    {
        string? prefix = request.Parameter("startsWith");
        if (prefix is null)
            return snapshot.NewestFirst();

        return snapshot.ByPrefix(new DocumentPrefix
        {
            StartsWith = prefix,
            Matches = NullIfEmpty(request.Parameter("matches")),
            Exclude = NullIfEmpty(request.Parameter("exclude")),
            StartAfter = NullIfEmpty(request.Parameter("startAfter")),
        });
    }

    /// <summary>Skips the first <paramref name="count"/> documents; returns false if there are fewer.</summary>
    public static bool Skip(ServerRequest request, DocumentCursor cursor, long count)
    {
        const long checkEvery = 4_096;
        for (long skipped = 0; skipped < count; skipped++)
        {
            if (!cursor.MoveNext())
                return false;

            if (skipped % checkEvery == 0)
                request.Aborted.ThrowIfCancellationRequested();
        }

        return true;
    }

    private static string? NullIfEmpty(string? value) => string.IsNullOrEmpty(value) ? null : value;
}
