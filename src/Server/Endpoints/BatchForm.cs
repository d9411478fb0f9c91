using System.Buffers;
using Microsoft.AspNetCore.Http.Features;
using Microsoft.AspNetCore.WebUtilities;
using Microsoft.Net.Http.Headers;
using Treepie.Server.Http;
using Treepie.Writes;

namespace Treepie.Server.Endpoints;

/// <summary>
/// A batch with attachment contents as a multipart form: first the batch, then the contents, in the order of the commands
/// that store them. Contents longer than a chunk are streamed to the store. Dispose it after the batch has been written.
/// </summary>
internal sealed class BatchForm : IAsyncDisposable
{
    /// <summary>The number of bytes of a content that may stay in memory until the batch is written.</summary>
    private const long HeldBytes = 1 << 20;

    private const int ReadBytes = 64 * 1024;

    private readonly HttpServerRequest _request;
    private readonly Database _database;
    private readonly RequestBody _body;
    private readonly List<AttachmentUpload> _contents = [];

    private BatchForm(HttpServerRequest request, Database database)
    {
        _request = request;
        _database = database;
        _body = new RequestBody(request.Server.Buffers.Open());
    }

    /// <summary>Reads the form to its end.</summary>
    /// <exception cref="WireException">The form is not valid.</exception>
    public static async Task<BatchForm> ReadAsync(HttpServerRequest request, Database database)
    {
        var form = new BatchForm(request, database);
        try
        {
            request.BecomeLong(request.Server.BulkInserts);
            await form.ReadAsync().ConfigureAwait(false);
            return form;
        }
        catch (Exception exception) when (exception is InvalidDataException or (IOException and not BadHttpRequestException))
        {
            await form.DisposeAsync().ConfigureAwait(false);
            throw WireException.BadRequest(
                $"The form of the batch is broken ({exception.Message}). Nothing was changed.", exception);
        }
        catch
        {
            await form.DisposeAsync().ConfigureAwait(false);
            throw;
        }
    }

    /// <summary>Creates the batch.</summary>
    public WriteBatch ReadBatch() =>
        BatchReader.Read(
            _body.Memory, _database.Options, _request.Server.Limits.MaxCommandsPerRequest,
            new Queue<AttachmentUpload>(_contents));

    public async ValueTask DisposeAsync()
    {
        foreach (AttachmentUpload content in _contents)
            await content.DisposeAsync().ConfigureAwait(false);
        _body.Dispose();
    }

    private async Task ReadAsync()
    {
        HttpContext http = _request.Http;
        if (http.Features.Get<IHttpMaxRequestBodySizeFeature>() is { IsReadOnly: false } size)
            size.MaxRequestBodySize = null; // counted as it arrives
        string? boundary = MediaTypeHeaderValue.TryParse(http.Request.ContentType, out MediaTypeHeaderValue? type)
            ? HeaderUtilities.RemoveQuotes(type.Boundary).Value
            : null;
        if (string.IsNullOrEmpty(boundary))
            throw WireException.BadRequest("The form of the batch lacks its boundary. Nothing was changed.");

        var form = new MultipartReader(boundary, new CancellableBody(http.Request.BodyReader));
        byte[] buffer = ArrayPool<byte>.Shared.Rent(ReadBytes);
        try
        {
            for (int part = 0; await form.ReadNextSectionAsync(_request.Aborted).ConfigureAwait(false) is { } section; part++)
            {
                if (part > _request.Server.Limits.MaxCommandsPerRequest)
                    throw WireException.TooLarge(
                        $"The form of the batch has more than {_request.Server.Limits.MaxCommandsPerRequest:N0} contents. "
                            + $"Nothing was changed.");
                await (part == 0 ? ReadBatchAsync(section.Body, buffer) : ReadContentAsync(section.Body, buffer)).ConfigureAwait(
                    false);
            }
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(buffer, clearArray: _database.IsEncrypted);
        }
    }

    private async Task ReadBatchAsync(Stream part, byte[] buffer)
    {
        long most = _request.Server.Limits.MaxRequestBytes;
        for (int read; (read = await part.ReadAsync(buffer, _request.Aborted).ConfigureAwait(false)) > 0;)
        {
            if (_body.Length + read > most)
                throw WireException.TooLarge($"The batch is longer than the {most:N0} bytes allowed here. Nothing was changed.");
            _body.Append(new ReadOnlySequence<byte>(buffer, 0, read), null);
        }

        _body.Hold(_body.Length);
    }

    private async Task ReadContentAsync(Stream part, byte[] buffer)
    {
        var content = _database.BeginUpload();
        _contents.Add(content);
        for (int read; (read = await part.ReadAsync(buffer, _request.Aborted).ConfigureAwait(false)) > 0;)
        {
            if (content.LengthBytes < HeldBytes)
                _body.Hold(read);
            await content.WriteAsync(buffer.AsMemory(0, read), _request.Aborted).ConfigureAwait(false);
        }

        await content.CompleteAsync(_request.Aborted).ConfigureAwait(false);
    }
}
