namespace Treepie.Server.Http;

/// <summary>
/// A line in the log category <c>Treepie.Slow</c> for each request that took long, with the text and the plan of its query. Who
/// switches it on wants these texts, which hold what people search for; parameters are not in it. Thread-safe.
/// </summary>
internal sealed class SlowLog(ILogger logger, TimeSpan threshold, TimeProvider clock)
{
    public const string Category = "Treepie.Slow";

    private const int MostLinesPerSecond = 20;
    private const int MostTextCharacters = 2_000;

    private readonly LineBudget _lines = new(MostLinesPerSecond, clock);

    /// <summary>Writes the line, if the request took long enough.</summary>
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

    /// <summary>On one line, and not too long.</summary>
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
