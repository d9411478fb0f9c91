using System.Buffers;
using System.Globalization;
using System.Security;
using System.Text;
using Treepie.Indexing;
using Treepie.Indexing.Plans;

namespace Treepie.Queries.Plans;

/// <summary>
/// Draws a plan as SVG: a row for each step, with the tree on the left, its numbers in columns, a bar for its share of the time,
/// and below it the decisions made and the alternatives rejected. One file without scripts or external references.
/// </summary>
internal static class PlanSvg
{
    private const int Width = 1_340;
    private const int Margin = 28;
    private const int BarWidth = 92;
    private const int RowHeight = 30;
    private const int NoteHeight = 17;
    private const int Indent = 26;
    private const int HeaderHeight = 118;
    private const int QueryLineHeight = 18;
    private const int MaxQueryLines = 5;
    private const int QueryLineLength = 150;
    private const int MaxNameLength = 70;
    private const int MaxNoteLength = 150;

    private static readonly (string Title, int Right)[] _columns =
    [
        ("expected", 628), ("in", 704), ("out", 780), ("windows", 850), ("pages", 912), ("blocks", 976), ("bytes", 1_058),
        ("entries", 1_140), ("scored", 1_206), ("time", 1_312),
    ];

    public static void Write(PlanNode plan, string query, QueryCounters counters, TimeSpan duration, IBufferWriter<byte> output)
    {
        var rows = new List<Row>();
        Collect(plan, 0, rows);
        List<string> lines = Lines(query);
        int y = HeaderHeight + ((lines.Count - 1) * QueryLineHeight);
        foreach (Row row in rows)
        {
            row.Top = y;
            y += RowHeight + (row.Notes.Count * NoteHeight) + (row.Notes.Count > 0 ? 6 : 0);
        }

        var svg = new StringBuilder();
        Begin(svg, y + Margin, lines, counters, plan.ColdPages, duration);

        // Draw backgrounds first, so that no row covers the lines of the tree. Shares are of the sum of all steps: a step
        // that was built before its parent began is not included in the parent's time.
        double whole = Math.Max(1e-9, rows.Sum(row => row.Node.Elapsed?.TotalMicroseconds ?? 0));
        for (int i = 1; i < rows.Count; i += 2)
            DrawGround(svg, rows[i]);
        foreach (Row row in rows)
            DrawBranches(svg, rows, row);
        foreach (Row row in rows)
            Draw(svg, row, whole);
        svg.Append("</svg>\n");
        output.Write(Encoding.UTF8.GetBytes(svg.ToString()));
    }

    private static void Collect(PlanNode node, int depth, List<Row> rows)
    {
        var row = new Row(node, depth);
        rows.Add(row);
        foreach (PlanDecision decision in node.Decisions)
        {
            row.Notes.Add($"{decision.Question}: {decision.Chosen}{Cost(decision.Cost)}: {decision.Reason}");
            foreach (PlanAlternative other in decision.NotTaken)
                row.Notes.Add($"not {other.Name}{Cost(other.Cost)}: {other.Reason}");
        }

        foreach (PlanNode child in node.Children)
        {
            row.Children.Add(rows.Count);
            Collect(child, depth + 1, rows);
        }
    }

    private static void Begin(
        StringBuilder svg, int height, List<string> lines, QueryCounters counters, long? coldPages, TimeSpan duration)
    {
        svg.Append(
            CultureInfo.InvariantCulture,
            $"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{Width}\" height=\"{height}\" viewBox=\"0 0 {Width} {height}\" "
                + $"role=\"img\">\n");
        svg.Append(
            "<title>Query plan</title>\n<style>"
                + "text{font-family:ui-sans-serif,system-ui,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;"
                + "font-size:13px;fill:#1f2933}"
                + ".q{font-family:ui-monospace,'DejaVu Sans Mono',monospace;font-size:13px}"
                + ".s{font-size:12px;fill:#616e7c}.h{font-size:11px;fill:#7b8794;letter-spacing:.04em}"
                + ".n{font-variant-numeric:tabular-nums;text-anchor:end}.z{fill:#b8c0c8}.o{font-weight:600}.f{fill:#0b69a3}"
                + ".no{fill:#9aa5b1}.r{text-anchor:end}</style>\n");
        svg.Append(CultureInfo.InvariantCulture, $"<rect width=\"{Width}\" height=\"{height}\" fill=\"#ffffff\"/>\n");
        for (int i = 0; i < lines.Count; i++)
            Text(svg, Margin, 38 + (i * QueryLineHeight), "q", lines[i]);
        int down = (lines.Count - 1) * QueryLineHeight;
        string figures = string.Create(
            CultureInfo.InvariantCulture,
            $"{Time(duration.TotalMicroseconds)} in all · {counters.PagesRead:N0} "
                + $"pages{(coldPages is { } cold ? $" ({cold:N0} from the disk)" : "")} · {counters.BlocksDecoded:N0} blocks of "
                + $"{counters.BytesDecoded:N0} bytes · {counters.TermsScanned:N0} terms · {counters.EntriesScanned:N0} entries · "
                + $"{counters.CandidatesScored:N0} scored");
        Text(svg, Margin, 62 + down, "s", figures);
        Text(svg, Margin, 98 + down, "h", "STEP");
        foreach ((string title, int right) in _columns)
            Text(svg, right, 98 + down, "h r", title.ToUpperInvariant());
        svg.Append(
            CultureInfo.InvariantCulture,
            $"<line x1=\"{Margin}\" y1=\"{106 + down}\" x2=\"{Width - Margin}\" y2=\"{106 + down}\" stroke=\"#cbd2d9\"/>\n");
    }

    /// <summary>Draws the background of every other row.</summary>
    private static void DrawGround(StringBuilder svg, Row row)
    {
        int height = RowHeight + (row.Notes.Count * NoteHeight) + (row.Notes.Count > 0 ? 6 : 0);
        svg.Append(
            CultureInfo.InvariantCulture,
            $"<rect x=\"{Margin - 8}\" y=\"{row.Top}\" width=\"{Width - (2 * Margin) + 16}\" height=\"{height}\" "
                + $"fill=\"#f7f9fb\"/>\n");
    }

    private static void DrawBranches(StringBuilder svg, List<Row> rows, Row row)
    {
        int x = Margin + (row.Depth * Indent) + 5;
        foreach (int child in row.Children)
            svg.Append(
                CultureInfo.InvariantCulture,
                $"<path d=\"M{x} {row.Top + 22}V{rows[child].Top + 15}H{x + Indent - 7}\" fill=\"none\" stroke=\"#9fb3c8\" "
                    + $"stroke-width=\"1.4\"/>\n");
    }

    private static void Draw(StringBuilder svg, Row row, double whole)
    {
        PlanNode node = row.Node;
        int left = Margin + (row.Depth * Indent);
        int baseline = row.Top + 20;
        svg.Append(
            CultureInfo.InvariantCulture,
            $"<circle cx=\"{left + 5}\" cy=\"{row.Top + 15}\" r=\"4.2\" "
                + $"fill=\"{(row.Children.Count > 0 ? "#2680c2" : "#0e7c86")}\"/>\n");
        int room = Math.Max(16, MaxNameLength - (row.Depth * 3));
        string field = node.Field is null ? "" : Shorten(node.Field, room / 2);
        string label = node.Label is null ? "" : Shorten(node.Label, Math.Max(8, room - node.Operation.Length - field.Length));
        svg.Append(
            CultureInfo.InvariantCulture,
            $"<text x=\"{left + 18}\" y=\"{baseline}\"><tspan class=\"o\">{Escape(node.Operation)}</tspan>");
        if (field.Length > 0)
            svg.Append("<tspan class=\"f\" dx=\"7\">").Append(Escape(field)).Append("</tspan>");
        if (label.Length > 0)
            svg.Append("<tspan dx=\"7\">").Append(Escape(label)).Append("</tspan>");
        svg.Append("</text>\n");
        DrawNumbers(svg, node, baseline, whole);
        for (int i = 0; i < row.Notes.Count; i++)
            Text(
                svg, left + 18, row.Top + RowHeight + 9 + (i * NoteHeight),
                row.Notes[i].StartsWith("not ", StringComparison.Ordinal) ? "s no" : "s", Shorten(row.Notes[i], MaxNoteLength));
    }

    private static void DrawNumbers(StringBuilder svg, PlanNode node, int baseline, double whole)
    {
        string expected = node.Estimate is { } estimate ? (node.IsExact ? "" : "≤ ") + Number(estimate) : "";
        string[] cells =
        [
            expected, Number(node.RowsIn), Number(node.RowsOut), Number(node.Windows), Number(node.Counters.PagesRead),
            Number(node.Counters.BlocksDecoded), Number(node.Counters.BytesDecoded),
            Number(node.Counters.EntriesScanned), Number(node.Counters.CandidatesScored),
            node.Elapsed is { } elapsed ? Time(elapsed.TotalMicroseconds) : "",
        ];
        if (node.Elapsed is { } time)
        {
            double share = Math.Clamp(time.TotalMicroseconds / whole, 0, 1);
            svg.Append(
                CultureInfo.InvariantCulture,
                $"<rect x=\"{_columns[^1].Right - BarWidth}\" y=\"{baseline + 4}\" width=\"{BarWidth * share:0.#}\" height=\"3\" "
                    + $"rx=\"1.5\" fill=\"#f0a860\"/>\n");
        }

        for (int i = 0; i < cells.Length; i++)
        {
            if (cells[i].Length > 0)
                Text(svg, _columns[i].Right, baseline, cells[i] == "0" ? "n z" : "n", cells[i]);
        }
    }

    private static void Text(StringBuilder svg, int x, int y, string kind, string text) =>
        svg.Append(CultureInfo.InvariantCulture, $"<text x=\"{x}\" y=\"{y}\" class=\"{kind}\">{Escape(text)}</text>\n");

    private static string Number(long value) => value.ToString("N0", CultureInfo.InvariantCulture);

    private static string Cost(double? nanoseconds) =>
        nanoseconds is { } cost ? $" (about {Time(Math.Round(cost / 1_000, 1))})" : "";

    private static string Time(double microseconds) => microseconds switch
    {
        < 1_000 => string.Create(CultureInfo.InvariantCulture, $"{microseconds:0.#} µs"),
        < 1_000_000 => string.Create(CultureInfo.InvariantCulture, $"{microseconds / 1_000:0.##} ms"),
        _ => string.Create(CultureInfo.InvariantCulture, $"{microseconds / 1_000_000:0.##} s"),
    };

    /// <summary>Splits the query into lines, between words where possible.</summary>
    private static List<string> Lines(string query)
    {
        var lines = new List<string>();
        string rest = Shorten(query, MaxQueryLines * QueryLineLength);
        while (rest.Length > QueryLineLength && lines.Count < MaxQueryLines - 1)
        {
            int end = rest.LastIndexOf(' ', QueryLineLength);
            end = end < QueryLineLength / 2 ? QueryLineLength : end;
            lines.Add(rest[..end]);
            rest = rest[end..].TrimStart();
        }

        lines.Add(Shorten(rest, QueryLineLength));
        return lines;
    }

    /// <summary>Shortens to one line and removes characters that XML forbids.</summary>
    private static string Shorten(string text, int length)
    {
        var line = new StringBuilder(Math.Min(text.Length, length + 1));
        foreach (char c in text)
        {
            if (line.Length == length)
                return line.Append('…').ToString();
            line.Append(char.IsControl(c) || char.IsSurrogate(c) ? ' ' : c);
        }

        return line.ToString();
    }

    private static string Escape(string text) => SecurityElement.Escape(text);

    private sealed class Row(PlanNode node, int depth)
    {
        public PlanNode Node { get; } = node;

        public int Depth { get; } = depth;

        public int Top { get; set; }

        public List<string> Notes { get; } = [];

        public List<int> Children { get; } = [];
    }
}
