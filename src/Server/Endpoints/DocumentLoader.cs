using System.Globalization;
using Microsoft.Extensions.Primitives;
using Treepie.Queries;
using Treepie.Server.Http;
using Treepie.Store;

namespace Treepie.Server.Endpoints;

/// <summary>
/// Loads documents by id, with the documents they refer to. Reads one snapshot twice: first for the ETag, so that a client
/// that has the response already is told so; then to write from the pages to the response.
/// </summary>
internal static class DocumentLoader
{
    public static async Task LoadAsync(ServerRequest request, Database database, IReadOnlyList<string> ids)
    {
        if (ids.Count > request.Server.Limits.MaxCommandsPerRequest)
            throw WireException.TooLarge(
                $"{ids.Count:N0} ids in one load; {request.Server.Limits.MaxCommandsPerRequest:N0} are allowed.");

        bool metadataOnly = request.Flag("metadataOnly");
        StringValues includePaths = request.Parameters("include");
        IncludedDocuments? includes =
            includePaths.Count == 0 ? null : new IncludedDocuments(includePaths.Select(static path => path ?? ""));
        using DatabaseSnapshot snapshot = database.BeginRead();
        var beside = new BesideIncludes(request, snapshot, ids);
        BesideIncluded included = beside.Read();
        if (ids.Count == 1 && !request.IsEmbedded && !snapshot.TryGet(ids[0], out Document _) && !beside.HasGuardOfMissing)
        {
            request.EndEmpty(StatusCodes.Status404NotFound);
            return;
        }

        string etag = ETagOf(snapshot, ids, includes, beside.IsEmpty ? 0 : snapshot.LastEtag);
        if (request.ChangeVectorHeader("If-None-Match") == etag)
        {
            request.EndEmpty(StatusCodes.Status304NotModified);
            return;
        }

        request.SetETag(etag);
        ResponseBody output = request.BeginJsonBody();
        output.Write("{\"Results\":["u8);
        for (int i = 0; i < ids.Count; i++)
        {
            if (i > 0)
                output.Write(","u8);

            if (snapshot.TryGet(ids[i], out Document document))
                Write(document, output, metadataOnly, beside.IsClusterWide);
            else
                output.Write("null"u8);

            snapshot.ReleasePages(); // the response buffer has a copy
            await request.PauseAsync().ConfigureAwait(false);
        }

        output.Write("],\"Includes\":{"u8);
        if (includes is not null)
            await WriteIncludesAsync(request, snapshot, includes, metadataOnly, beside.IsClusterWide).ConfigureAwait(false);

        output.Write("}"u8);
        await beside.WriteAsync(included).ConfigureAwait(false);
        output.Write("}"u8);
    }

    private static void Write(Document document, ResponseBody output, bool metadataOnly, bool isClusterWide)
    {
        if (isClusterWide)
            document.WriteGuardedTo(output, metadataOnly);
        else
            document.WriteTo(output, metadataOnly);
    }

    // For one document its change vector; for several a hash over which exist and when they changed, in order.
    private static string ETagOf(DatabaseSnapshot snapshot, IReadOnlyList<string> ids, IncludedDocuments? includes, long beside)
    {
        if (ids.Count == 1 && includes is null && beside == 0)
            return snapshot.TryGet(ids[0], out Document only) ? only.ChangeVector : "0";

        var hash = new EtagHash();
        hash.Add(beside); // related data may change without the documents
        foreach (string id in ids)
        {
            if (!snapshot.TryGet(id, out Document document))
            {
                hash.Add(0);
                continue;
            }

            hash.Add(document.Etag);
            includes?.Collect(document);
            snapshot.ReleasePages();
        }

        if (includes is not null)
        {
            includes.Except(ids);
            foreach (string id in includes.Ids)
                hash.Add(snapshot.TryGet(id, out Document included) ? included.Etag : 0);
        }

        return hash.ToString();
    }

    private static async Task WriteIncludesAsync(
        ServerRequest request, DatabaseSnapshot snapshot, IncludedDocuments includes, bool metadataOnly, bool isClusterWide)
    {
        ResponseBody output = request.Output;
        bool first = true;
        foreach (string id in includes.Ids)
        {
            if (!snapshot.TryGet(id, out Document document))
                continue;

            if (!first)
                output.Write(","u8);

            first = false;
            output.WriteString(document.Id);
            output.Write(":"u8);
            Write(document, output, metadataOnly, isClusterWide);
            snapshot.ReleasePages();
            await request.PauseAsync().ConfigureAwait(false);
        }
    }

    /// <summary>FNV-1a over numbers: only used to compare responses for the same URL.</summary>
    private struct EtagHash()
    {
        private ulong _hash = 14695981039346656037;

        public void Add(long value)
        {
            for (int shift = 0; shift < 64; shift += 8)
                _hash = (_hash ^ (byte)(value >> shift)) * 1099511628211;
        }

        public readonly override string ToString() => _hash.ToString("x16", CultureInfo.InvariantCulture);
    }
}
