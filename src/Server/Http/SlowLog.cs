namespace Treepie.Server.Http;

/// <summary>
/// Logs each slow request in the category <c>Treepie.Slow</c>, with the text and the plan of its query. The text may contain
/// personal data; parameters are not logged. Thread-safe.
/// </summary>
internal sealed class SlowLog(ILogger logger, TimeSpan threshold, TimeProvider clock)
{
    public const string Category = "Treepie.Slow";

    private const int MostLinesPerSecond = 20;
    private const int MostTextCharacters = 2_000;

    private readonly LineBudget _lines = new(MostLinesPerSecond, clock);

    /// <summary>Logs the request if it was slow.</summary>
    public void Ended(HttpServerRequest request)
    {
        TimeSpan elapsed = request.Elapsed;
        if (elapsed < threshold || !logger.IsEnabled(LogLevel.Warning) || !_lines.TryTake(out int untold))
            return;

        logger.LogWarning(
            "{Elapsed:0} ms {Method} {Path} → {Status}, {Bytes} bytes{Query} Slow requests before it that are not told: {Untold}",
            elapsed.TotalMilliseconds, Plain(request.Method), Plain(request.Http.Request.Path.Value ?? ""), request.StatusCode,
            request.Output.WrittenBytes,
            string.Concat(
                request.Queries.Select(
                    static query => $" Query: {Plain(query.Text)} Plan: {query.Results?.DescribePlan() ?? "none"}.")), untold);
    }

    /// <summary>Removes control characters, such as line breaks, and limits the length.</summary>
    private static string Plain(string text)
    {
        string shown = text.Length <= MostTextCharacters ? text : text[..MostTextCharacters] + "…";
        return string.Create(shown.Length, shown, static (line, from) =>
        {
            for (int i = 0; i < line.Length; i++)
                line[i] = char.IsControl(from[i]) ? ' ' : from[i];
        });
    }
}
