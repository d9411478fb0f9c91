using Microsoft.AspNetCore.Http.Features;
using Microsoft.AspNetCore.Server.Kestrel.Core.Features;
using Microsoft.AspNetCore.WebUtilities;
using Microsoft.Net.Http.Headers;
using Treepie.Server.Http;
using Treepie.Server.Security;

namespace Treepie.Server.Smuggler;

/// <summary>
/// Reads the form in which clients send a dump: the field <c>importOptions</c>, then the dump as a file, which is streamed
/// and never stored. Its length is not limited, nor its speed as long as something comes; the elements of the dump are limited
/// individually.
/// </summary>
internal static class DumpForm
{
    public const int MaxOptionsBytes = 1024 * 1024;

    private const string OptionsField = "importOptions";

    /// <summary>Reads the form and passes options and dump to <paramref name="take"/>.</summary>
    /// <exception cref="WireException">The form is not valid.</exception>
    public static async Task ReadAsync(
        HttpServerRequest request, DatabaseOptions database, Func<SmugglerOptions, Stream, Task> take, CancellationToken stop)
    {
        var form = new MultipartReader(BoundaryOf(request.Http.Request), Open(request));
        SmugglerOptions options = SmugglerOptions.Default;
        try
        {
            while (await NextAsync(form, stop).ConfigureAwait(false) is { } section)
            {
                if (NameOf(section) != OptionsField)
                {
                    await take(options, new SectionBody(section.Body)).ConfigureAwait(false);
                    return;
                }

                options = await ReadOptionsAsync(section, database, stop).ConfigureAwait(false);
                if (options.Key is not null)
                    SecretTransport.Require(request.Http);
            }
        }
        finally
        {
            options.Dispose();
        }

        throw WireException.BadRequest("The form contains no dump. Nothing was imported.");
    }

    private static CancellableBody Open(HttpServerRequest request)
    {
        HttpContext http = request.Http;
        if (http.Features.Get<IHttpMaxRequestBodySizeFeature>() is { IsReadOnly: false } size)
            size.MaxRequestBodySize = null;
        if (http.Features.Get<IHttpMinRequestBodyDataRateFeature>() is { } rate)
            rate.MinDataRate = null; // committing a batch may take longer than the client is allowed to pause
        // Only the wait for the client is limited: one that vanished without closing would hold its place forever.
        return new CancellableBody(
            http.Request.BodyReader, request.Services.Limits.BulkInsertIdleTimeout, request.Services.Clock);
    }

    private static string BoundaryOf(HttpRequest request)
    {
        string? boundary = MediaTypeHeaderValue.TryParse(request.ContentType, out MediaTypeHeaderValue? type)
            && type.MediaType.Equals("multipart/form-data", StringComparison.OrdinalIgnoreCase)
            ? HeaderUtilities.RemoveQuotes(type.Boundary).Value
            : null;
        return string.IsNullOrEmpty(boundary)
            ? throw WireException.BadRequest(
                $"The request must be a form (multipart/form-data) with the field '{OptionsField}' and the dump as a file. "
                    + $"Nothing was imported.")
            : boundary;
    }

    /// <summary>Returns whether an exception was caused by the form, not by the connection.</summary>
    public static bool IsBroken(Exception exception) =>
        exception is InvalidDataException or (IOException and not BadHttpRequestException);

    /// <summary>Creates the error for a malformed form.</summary>
    public static WireException Broken(Exception exception) =>
        WireException.BadRequest(
            $"The form is broken ({exception.Message}). Nothing after that was imported.", exception);

    private static async Task<MultipartSection?> NextAsync(MultipartReader form, CancellationToken stop)
    {
        try
        {
            return await form.ReadNextSectionAsync(stop).ConfigureAwait(false);
        }
        catch (Exception exception) when (IsBroken(exception))
        {
            throw Broken(exception);
        }
    }

    private static string NameOf(MultipartSection section) =>
        ContentDispositionHeaderValue.TryParse(section.ContentDisposition, out ContentDispositionHeaderValue? disposition)
            ? HeaderUtilities.RemoveQuotes(disposition.Name).ToString()
            : "";

    private static async Task<SmugglerOptions> ReadOptionsAsync(
        MultipartSection section, DatabaseOptions database, CancellationToken stop)
    {
        byte[] buffer = new byte[MaxOptionsBytes];
        int length = await new SectionBody(section.Body)
            .ReadAtLeastAsync(buffer, buffer.Length, throwOnEndOfStream: false, stop)
            .ConfigureAwait(false);
        if (length == buffer.Length)
            throw WireException.TooLarge($"'{OptionsField}' is longer than {MaxOptionsBytes:N0} bytes.");

        using var body = new RequestBody(buffer, length);
        try
        {
            return SmugglerOptions.Read(body, database);
        }
        finally
        {
            body.Wipe(); // it may contain a key
        }
    }
}
