using System.Globalization;
using System.IO.Pipelines;
using System.Text.Json;
using Microsoft.AspNetCore.Http.Features;
using Microsoft.Net.Http.Headers;
using Treepie.Kinds;
using Treepie.Server.Http;
using Treepie.Server.Security;
using Treepie.Store;
using Treepie.Writes;

namespace Treepie.Server.Endpoints;

/// <summary>
/// Attachments of documents and revisions. Contents are streamed to and from the store, whatever their length.
/// </summary>
internal static class AttachmentsEndpoints
{
    /// <summary>Contents longer than this count as bulk inserts or streams, which have limits of their own.</summary>
    private const long LongBytes = 1 << 20;

    /// <summary>
    /// The number of bytes written to the connection between flushes: enough that the copy of a piece overlaps with the sending
    /// of the one before.
    /// </summary>
    private const int WriteBytes = 256 * 1024;

    public static void Map(Routes routes)
    {
        routes.Database(
            "GET", "/attachments", AccessLevel.DatabaseRead,
            static (request, database) => ReadAsync(request, database, withContent: true));
        routes.Database(
            "HEAD", "/attachments", AccessLevel.DatabaseRead,
            static (request, database) => ReadAsync(request, database, withContent: false));
        routes.Database("POST", "/attachments", AccessLevel.DatabaseRead, ReadOfBodyAsync);
        routes.Database("PUT", "/attachments", AccessLevel.DatabaseReadWrite, Put);
        routes.Database("DELETE", "/attachments", AccessLevel.DatabaseReadWrite, Delete);
    }

    /// <summary>Reads a body to its end into an upload and completes it.</summary>
    public static async Task ReceiveAsync(PipeReader reader, AttachmentUpload upload, CancellationToken cancellationToken)
    {
        for (bool isComplete = false; !isComplete;)
        {
            ReadResult read = await reader.ReadOrCancelAsync(cancellationToken).ConfigureAwait(false);
            try
            {
                foreach (ReadOnlyMemory<byte> piece in read.Buffer)
                    await upload.WriteAsync(piece, cancellationToken).ConfigureAwait(false);
            }
            finally
            {
                // also after an error: an unfinished read would prevent draining the request after the response
                reader.AdvanceTo(read.Buffer.End);
            }

            isComplete = read.IsCompleted;
        }

        await upload.CompleteAsync(cancellationToken).ConfigureAwait(false);
    }

    private static async Task Put(HttpServerRequest request, Database database)
    {
        (string id, string name) = (request.RequiredParameter("id"), request.RequiredParameter("name"));
        if (request.Http.Request.ContentLength is not <= LongBytes)
            request.BecomeLong(request.Server.BulkInserts);
        if (request.Http.Features.Get<IHttpMaxRequestBodySizeFeature>() is { IsReadOnly: false } limit)
            limit.MaxRequestBodySize = null; // counted as it arrives

        var upload = database.BeginUpload();
        await using (upload.ConfigureAwait(false))
        {
            await ReceiveAsync(request.Http.Request.BodyReader, upload, request.Aborted).ConfigureAwait(false);
            using var batch = new WriteBatch(database.Options);
            batch.PutAttachment(id, name, request.Parameter("contentType"), upload, request.ChangeVectorHeader("If-Match"));
            // the result of the only command, a put
            AttachmentValue put = ((AttachmentResult)(await database.WriteAsync(batch, request.Aborted)
                .ConfigureAwait(false))[0].Beside!).Value!;
            await request.JsonAsync(
                put,
                static (json, attachment) =>
                {
                    json.WriteStartObject();
                    json.WriteString("DocumentId", attachment.DocumentId);
                    json.WriteString("Name", attachment.Name);
                    KindWire.WriteAttachment(json, attachment);
                    json.WriteEndObject();
                },
                StatusCodes.Status201Created).ConfigureAwait(false);
        }
    }

    private static async Task Delete(HttpServerRequest request, Database database)
    {
        using var batch = new WriteBatch(database.Options);
        batch.DeleteAttachment(
            request.RequiredParameter("id"), request.RequiredParameter("name"), request.ChangeVectorHeader("If-Match"));
        await database.WriteAsync(batch, request.Aborted).ConfigureAwait(false);
        await request.NoContentAsync().ConfigureAwait(false);
    }

    /// <summary>Reads an attachment of a document, or of one of its revisions, as given by the parameters.</summary>
    private static Task ReadAsync(HttpServerRequest request, Database database, bool withContent) =>
        ReadAsync(
            request, database, RevisionOf(request.Parameter("type"), request.Parameter("changeVector")), withContent);

    /// <summary>Same as above, with parameters in the body, as clients send them for revisions.</summary>
    private static async Task ReadOfBodyAsync(HttpServerRequest request, Database database)
    {
        string? revision;
        using (RequestBody body = await request.ReadBodyAsync(request.Server.Limits.MaxRequestBytes).ConfigureAwait(false))
        using (JsonDocument json = WireJson.ParseObject(body, "{\"Type\":\"Revision\",\"ChangeVector\":\"…\"}"))
            revision = RevisionOf(
                WireJson.Text(json.RootElement, "Type", required: false),
                WireJson.Text(json.RootElement, "ChangeVector", required: false));
        await ReadAsync(request, database, revision, withContent: true).ConfigureAwait(false);
    }

    /// <summary>Returns the change vector of the requested revision; null for the document itself.</summary>
    private static string? RevisionOf(string? type, string? changeVector)
    {
        bool isRevision = type is null ? changeVector is not null : type.Equals("Revision", StringComparison.OrdinalIgnoreCase);
        if (!isRevision && type is not null && !type.Equals("Document", StringComparison.OrdinalIgnoreCase))
            throw WireException.BadRequest($"'{type}' has no attachments. Ask for those of a 'Document' or 'Revision'.");
        if (isRevision && string.IsNullOrEmpty(changeVector))
            throw WireException.BadRequest(
                "An attachment of a revision is asked for without the change vector of that. Give it.");
        return isRevision ? changeVector : null;
    }

    private static async Task ReadAsync(HttpServerRequest request, Database database, string? revision, bool withContent)
    {
        (string id, string name) = (request.RequiredParameter("id"), request.RequiredParameter("name"));
        using DatabaseSnapshot snapshot = database.BeginRead();
        AttachmentValue? found = revision is null
            ? snapshot.Attachment(id, name)
            : snapshot.RevisionAttachment(id, name, revision);
        if (found is not { } attachment)
        {
            request.EndEmpty(StatusCodes.Status404NotFound);
            return;
        }

        request.SetETag(attachment.ChangeVector);
        if (request.Header("If-Match") is { } match && !Names(match, attachment.ChangeVector, isStrong: true))
        {
            request.EndEmpty(StatusCodes.Status412PreconditionFailed); // before the range: it would be one of another content
            return;
        }

        if (request.Header("If-None-Match") is { } known && Names(known, attachment.ChangeVector, isStrong: false))
        {
            request.EndEmpty(StatusCodes.Status304NotModified);
            return;
        }

        HttpResponse response = request.Http.Response;
        (long from, long to) = RangeOf(request, attachment.SizeBytes);
        if (from < 0)
        {
            response.Headers.ContentRange = string.Create(CultureInfo.InvariantCulture, $"bytes */{attachment.SizeBytes}");
            request.EndEmpty(StatusCodes.Status416RangeNotSatisfiable);
            return;
        }

        bool isPart = to - from < attachment.SizeBytes;
        response.StatusCode = isPart ? StatusCodes.Status206PartialContent : StatusCodes.Status200OK;
        if (isPart)
            response.Headers.ContentRange = string.Create(
                CultureInfo.InvariantCulture, $"bytes {from}-{to - 1}/{attachment.SizeBytes}");
        response.ContentType = IsSendable(attachment.ContentType) ? attachment.ContentType : "application/octet-stream";
        response.Headers.ContentDisposition = "attachment"; // it may be a page with a script, from whoever may write here
        response.Headers.AcceptRanges = "bytes";
        response.Headers.XContentTypeOptions = "nosniff";
        request.SetHeader("Attachment-Hash", attachment.Hash);
        request.SetHeader("Attachment-Size", attachment.SizeBytes.ToString(CultureInfo.InvariantCulture));
        response.ContentLength = to - from;
        if (withContent)
            await SendAsync(request, snapshot, attachment, from, to).ConfigureAwait(false);
    }

    /// <summary>
    /// Returns whether a condition names a change vector: alone, with quotes or without, in a list, or by <c>*</c>, which stands
    /// for any.
    /// </summary>
    private static bool Names(string condition, string changeVector, bool isStrong) =>
        condition.Trim() is var text
        && (text == "*"
            || text.Trim('"') == changeVector
            || (EntityTagHeaderValue.TryParseList([text], out IList<EntityTagHeaderValue>? tags)
                && tags.Any(tag => tag.Tag.AsSpan().Trim('"').SequenceEqual(changeVector) && !(isStrong && tag.IsWeak))));

    /// <summary>Returns whether a content type that a client stored can be a header.</summary>
    private static bool IsSendable(string contentType) =>
        contentType.Length > 0 && contentType.All(static c => c is >= ' ' and < '\u007f');

    private static async Task SendAsync(
        HttpServerRequest request, DatabaseSnapshot snapshot, AttachmentValue attachment, long from, long to)
    {
        if (to - from > LongBytes)
            request.BecomeStream();
        while (from < to)
        {
            request.Aborted.ThrowIfCancellationRequested(); // a flush with room in its buffer does not look
            from += Write(request.Output, snapshot, attachment, from, (int)Math.Min(to - from, WriteBytes));
            snapshot.ReleasePages(); // the response buffer has a copy
            await request.PauseAsync().ConfigureAwait(false);
        }

        // Kestrel does not flush at the end of a response whose length is known.
        await request.Output.FlushAsync(request.Aborted).ConfigureAwait(false);
    }

    private static int Write(ResponseBody output, DatabaseSnapshot snapshot, AttachmentValue attachment, long from, int most)
    {
        ReadOnlySpan<byte> piece = snapshot.Content(attachment, from);
        int length = Math.Min(most, piece.Length);
        output.Write(piece[..length]);
        return length;
    }

    /// <summary>
    /// Returns the requested range (end exclusive): everything if there is no range, or several; a negative start if the
    /// range is outside the content.
    /// </summary>
    private static (long From, long To) RangeOf(HttpServerRequest request, long size)
    {
        if (request.Header("Range") is not { Length: > 0 } text
            || !RangeHeaderValue.TryParse(text, out RangeHeaderValue? range)
            || range.Unit != "bytes"
            || range.Ranges.Count != 1)
            return (0, size);
        if (request.Header("If-Range") is { } condition
            && condition.Trim().Trim('"') != request.Http.Response.Headers.ETag.ToString().Trim('"'))
            return (0, size);

        RangeItemHeaderValue item = range.Ranges.First();
        if (item.From is not { } from)
            // a suffix range: the last bytes
            return size > 0 && item.To > 0 ? (Math.Max(0, size - item.To.Value), size) : (-1, 0);
        return from < size ? (from, Math.Min(size, (item.To ?? (size - 1)) + 1)) : (-1, 0);
    }
}
