using System.Globalization;
using System.Reflection;
using System.Runtime.InteropServices;
using System.Text;
using System.Text.Json;

namespace Treepie.Bench.Measuring;

/// <summary>Turns rows into the Markdown of a page of <c>docs/benchmarks</c> and into JSON.</summary>
internal static class BenchReport
{
    /// <summary>What a page says of its suite: what it asks, on what machine, which commit, the table.</summary>
    public static string Markdown(ISuite suite, IReadOnlyList<BenchRow> rows, string command, DateTimeOffset now)
    {
        string[] peers = [.. rows.SelectMany(row => row.Peers.Keys).Distinct()];
        bool limit = rows.Any(row => row.Limit is not null), goals = rows.Any(row => row.Goals.Count > 0);
        bool notes = rows.Any(row => row.Note is not null || row.Reason is not null);
        var text = new StringBuilder();
        text.AppendLine(CultureInfo.InvariantCulture, $"# {suite.Name}").AppendLine();
        text.AppendLine(suite.Question).AppendLine();
        text.AppendLine(CultureInfo.InvariantCulture, $"`{command}`, {now:yyyy-MM-dd}, {Commit()}, {Machine()}").AppendLine();

        List<string> head = ["work", "unit", "Treepie", .. peers.Select(peer => peer), .. peers.Select(peer => $"vs {peer}")];
        if (limit)
            head.Add("limit");
        head.Add("spread");
        if (goals)
            head.Add("goal");
        if (notes)
            head.Add("note");
        Line(text, head);
        Line(text, head.Select((_, column) => column is 0 or 1 ? "---" : "---:"));
        foreach (BenchRow row in rows)
        {
            List<string> cells = [row.Row, row.Unit + (row.HigherIsBetter ? " ↑" : " ↓"), Number(row.Ours)];
            cells.AddRange(peers.Select(peer => row.Peers.TryGetValue(peer, out double value) ? Number(value) : ""));
            cells.AddRange(peers.Select(peer => row.Peers.TryGetValue(peer, out double value) ? Ratio(row, value) : ""));
            if (limit)
                cells.Add(row.Limit is { } most ? Number(most) : "");
            cells.Add(row.Spread is { } spread ? spread.ToString("P0", CultureInfo.InvariantCulture) : "");
            string[] judged = Judge(row, out bool isMissed);
            if (goals)
                cells.Add(string.Join("; ", judged));
            if (notes)
                cells.Add(string.Join("; ", new[] { isMissed ? row.Reason : null, row.Note }.Where(text => text is not null)));
            Line(text, cells);
        }

        return text.ToString();
    }

    /// <summary>Replaces what a run wrote of the suite's page, or begins the page; what people wrote there stays.</summary>
    public static void WriteTo(string path, ISuite suite, string section)
    {
        string start = $"<!-- suite {suite.Name} -->", end = $"<!-- end {suite.Name} -->";
        string block = $"{start}\n{section.TrimEnd()}\n{end}\n";
        string old = File.Exists(path) ? File.ReadAllText(path) : "";
        int from = old.IndexOf(start, StringComparison.Ordinal), to = old.IndexOf(end, StringComparison.Ordinal);
        string text = from >= 0 && to > from
            ? old[..from] + block + old[(to + end.Length)..].TrimStart('\n')
            : block + old;
        File.WriteAllText(path, text);
    }

    /// <summary>The rows as a JSON array, for machines.</summary>
    public static void WriteJson(string path, IEnumerable<(string Suite, BenchRow Row)> rows)
    {
        using FileStream file = File.Create(path);
        using var json = new Utf8JsonWriter(file, new JsonWriterOptions { Indented = true });
        json.WriteStartArray();
        foreach ((string suite, BenchRow row) in rows)
        {
            json.WriteStartObject();
            json.WriteString("suite", suite);
            json.WriteString("row", row.Row);
            json.WriteString("unit", row.Unit);
            json.WriteString("better", row.HigherIsBetter ? "higher" : "lower");
            json.WriteNumber("ours", row.Ours);
            json.WriteStartObject("peers");
            foreach ((string peer, double value) in row.Peers)
                json.WriteNumber(peer, value);
            json.WriteEndObject();
            if (row.Limit is { } limit)
                json.WriteNumber("limit", limit);
            else
                json.WriteNull("limit");
            json.WriteNumber("spread", row.Spread ?? 0);
            if (row.Goals.Count > 0)
            {
                json.WriteStartArray("goals");
                foreach (string goal in Judge(row, out _))
                    json.WriteStringValue(goal);
                json.WriteEndArray();
            }

            json.WriteEndObject();
        }

        json.WriteEndArray();
    }

    private static string[] Judge(BenchRow row, out bool isMissed)
    {
        bool any = false;
        string[] judged = [.. row.Goals.Select(goal =>
        {
            string text = goal.Judge(row, out bool missed);
            any |= missed;
            return text;
        }).Where(text => text.Length > 0)];
        isMissed = any;
        return judged;
    }

    /// <summary>The commit that this program was built from.</summary>
    private static string Commit()
    {
        string version =
            typeof(BenchReport).Assembly.GetCustomAttribute<AssemblyInformationalVersionAttribute>()?.InformationalVersion ?? "";
        return version.Split('+') is [_, { Length: > 0 } commit]
            ? "commit " + commit[..Math.Min(commit.Length, 10)]
            : "commit unknown";
    }

    private static string Machine()
    {
        string model = File.Exists("/proc/cpuinfo")
            ? File.ReadLines("/proc/cpuinfo")
                .FirstOrDefault(line => line.StartsWith("model name", StringComparison.Ordinal))?.Split(':')[1].Trim() ?? ""
            : "";
        return $"{Environment.ProcessorCount} cores {model}, {RuntimeInformation.OSDescription}, .NET {Environment.Version}";
    }

    private static string Ratio(BenchRow row, double peer) =>
        (row.HigherIsBetter ? row.Ours / peer : peer / row.Ours).ToString("0.00×", CultureInfo.InvariantCulture);

    private static string Number(double value) => value switch
    {
        >= 1000 => value.ToString("N0", CultureInfo.InvariantCulture),
        >= 10 => value.ToString("0.0", CultureInfo.InvariantCulture),
        _ => value.ToString("0.###", CultureInfo.InvariantCulture),
    };

    private static void Line(StringBuilder text, IEnumerable<string> cells) =>
        text.AppendLine("| " + string.Join(" | ", cells) + " |");
}
