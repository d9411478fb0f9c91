using System.Globalization;
using System.Text.Json;
using Treepie.CommandLine.Http;

namespace Treepie.CommandLine.Queries;

/// <summary>Shows the plan of a query: drawn as text, as an SVG file, or as the server's JSON.</summary>
internal sealed class ExplainRun(DatabaseClient database, Shell shell)
{
    /// <summary>Draws the plan as text.</summary>
    public async Task DrawAsync(ReadOnlyMemory<byte> query, CancellationToken cancellationToken)
    {
        using HttpResponseMessage response = await database.ExplainAsync(query, "json", cancellationToken);
        using JsonDocument answer = await ServerClient.ReadJsonAsync(response, cancellationToken);
        JsonElement timings = answer.RootElement.GetProperty("Timings");
        await shell.OutputText.WriteLineAsync(Heading(answer.RootElement, timings));
        await shell.OutputText.WriteLineAsync();
        if (!timings.TryGetProperty("QueryPlan", out JsonElement plan))
        {
            await shell.OutputText.WriteLineAsync("No index was used: the documents themselves were read, one after another.");
            return;
        }

        foreach (string line in PlanDrawing.Of(plan, shell.OutputConsole().Profile.Width))
            await shell.OutputText.WriteLineAsync(line);
        JsonElement counters = timings.GetProperty("Counters");
        await shell.OutputText.WriteLineAsync();
        IEnumerable<JsonProperty> figures =
        [
            .. counters.EnumerateObject(), .. timings.EnumerateObject().Where(figure => figure.Name is "PagesCold" or "PagesWarm")
        ];
        await shell.OutputText.WriteLineAsync(string.Join("   ", figures.Select(counter =>
            string.Create(CultureInfo.InvariantCulture, $"{Words(counter.Name)} {counter.Value.GetInt64():N0}"))));
        await shell.OutputText.FlushAsync(cancellationToken);
    }

    /// <summary>Writes the plan to an SVG file.</summary>
    public async Task SavePictureAsync(ReadOnlyMemory<byte> query, string path, CancellationToken cancellationToken)
    {
        using HttpResponseMessage response = await database.ExplainAsync(query, "svg", cancellationToken);
        byte[] picture = await response.Content.ReadAsByteArrayAsync(cancellationToken);
        await File.WriteAllBytesAsync(path, picture, cancellationToken);
        await shell.Error.WriteLineAsync(
            string.Create(CultureInfo.InvariantCulture, $"{Path.GetFullPath(path)}: {picture.Length:N0} bytes"));
    }

    /// <summary>Writes the server's response unchanged.</summary>
    public async Task WriteJsonAsync(ReadOnlyMemory<byte> query, CancellationToken cancellationToken)
    {
        using HttpResponseMessage response = await database.ExplainAsync(query, "json", cancellationToken);
        await response.Content.CopyToAsync(shell.Output, cancellationToken);
        await shell.Output.WriteAsync("\n"u8.ToArray(), cancellationToken);
        await shell.Output.FlushAsync(cancellationToken);
    }

    private static string Heading(JsonElement answer, JsonElement timings)
    {
        long total = answer.GetProperty("TotalResults").GetInt64();
        string heading = string.Create(
            CultureInfo.InvariantCulture,
            $"{answer.GetProperty("IndexName").GetString()}: {total:N0} {(total == 1 ? "result" : "results")}")
            + $" in {PlanDrawing.Duration(timings.GetProperty("DurationInMicroseconds").GetDouble())}";
        IEnumerable<string> parts = timings.GetProperty("Timings").EnumerateObject().Select(part =>
            $"{Words(part.Name)} {PlanDrawing.Duration(part.Value.GetProperty("DurationInMicroseconds").GetDouble())}");
        return $"{heading} ({string.Join(", ", parts)})";
    }

    /// <summary>Turns "PagesRead" into "pages read".</summary>
    private static string Words(string name) =>
        string.Concat(
            name.Select(
                (c, i) => i > 0 && char.IsUpper(c) ? " " + char.ToLowerInvariant(c) : char.ToLowerInvariant(c).ToString()));
}
