using System.Globalization;
using System.Text.Json;
using Spectre.Console;

namespace Treepie.CommandLine.Queries;

/// <summary>
/// Draws a query plan as text: operators as a tree, their figures in columns beside it, and decisions below the operator. Uses
/// the width of the terminal; if it is too narrow, names are cut and the least useful columns are left out.
/// </summary>
internal sealed class PlanDrawing
{
    /// <summary>Minimum width at which operators can still be told apart.</summary>
    private const int LeastNameWidth = 28;

    private const int MaxNameWidth = 72;
    private const int Gap = 2;

    /// <summary>Columns with their rank. The highest rank is left out first; rank 0 is always shown.</summary>
    private static readonly (string Title, string Member, int Rank)[] _known =
    [
        ("EXPECTED", "Estimate", 0), ("IN", "RowsIn", 3), ("OUT", "RowsOut", 0), ("WINDOWS", "Windows", 4),
        ("PAGES", "PagesRead", 2), ("COLD", "PagesCold", 8), ("BLOCKS", "BlocksDecoded", 5), ("BYTES", "BytesDecoded", 7),
        ("ENTRIES", "EntriesScanned", 1), ("SCORED", "CandidatesScored", 6), ("TIME", "ElapsedMicroseconds", 0),
    ];

    private readonly List<Line> _lines = [];
    private readonly int _width;

    private PlanDrawing(int width) => _width = width;

    /// <summary>Draws the plan from the root down.</summary>
    /// <param name="root">The plan as the server returns it.</param>
    /// <param name="width">Width of the terminal in columns.</param>
    public static IReadOnlyList<string> Of(JsonElement root, int width)
    {
        var drawing = new PlanDrawing(width);
        drawing.Add(root, "", "");
        return drawing.Lay();
    }

    private void Add(JsonElement node, string branch, string below)
    {
        JsonElement[] children = node.TryGetProperty("Children", out JsonElement found) ? [.. found.EnumerateArray()] : [];
        _lines.Add(new Line(branch + NameOf(node), node));
        string stem = below + (children.Length > 0 ? "│ " : "  ");
        foreach (JsonElement decision in node.GetProperty("Decisions").EnumerateArray())
        {
            _lines.Add(
                new Line(
                    $"{stem}· {Text(decision, "Question")}: {Text(decision, "Chosen")}{Cost(decision)} – "
                        + $"{Text(decision, "Reason")}",
                    null));
            foreach (JsonElement other in decision.GetProperty("NotTaken").EnumerateArray())
                _lines.Add(new Line($"{stem}    not {Text(other, "Name")}{Cost(other)} – {Text(other, "Reason")}", null));
        }

        for (int i = 0; i < children.Length; i++)
        {
            bool isLast = i == children.Length - 1;
            Add(children[i], below + (isLast ? "└─ " : "├─ "), below + (isLast ? "   " : "│  "));
        }
    }

    private List<string> Lay()
    {
        List<Line> steps = [.. _lines.Where(line => line.Node is not null)];
        // Every step has a node.
        List<Column> columns = [
            .. _known.Select(
                (column, place) => new Column(
                    column.Title, place, column.Rank, [.. steps.Select(step => Cell(step.Node!.Value, column.Member))]))];
        columns.RemoveAll(column => column.Cells.All(cell => cell is "" or "0") && column.Rank > 0);
        int widest = Math.Min(MaxNameWidth, steps.Max(step => step.Text.GetCellWidth()));
        while (columns.Sum(column => column.Width + Gap) + Math.Min(widest, LeastNameWidth) > _width
            && columns.Any(column => column.Rank > 0))
            columns.Remove(columns.MaxBy(column => column.Rank)!); // the loop condition ensures that there is one

        int room = Math.Max(8, Math.Min(widest, _width - columns.Sum(column => column.Width + Gap)));
        var drawn = new List<string>
        {
            Fit("STEP", room) + string.Concat(columns.Select(column => Right(column.Title, column.Width)))
        };
        int step = 0;
        foreach (Line line in _lines)
        {
            if (line.Node is null)
            {
                drawn.Add(Fit(line.Text, _width).TrimEnd());
                continue;
            }

            drawn.Add(
                (Fit(line.Text, room)
                    + string.Concat(columns.Select(column => Right(column.Cells[step], column.Width)))).TrimEnd());
            step++;
        }

        return drawn;
    }

    private static string NameOf(JsonElement node)
    {
        JsonElement parameters = node.GetProperty("Parameters");
        string name = Text(node, "Operation");
        if (parameters.TryGetProperty("Field", out JsonElement field))
            name += " " + Tidy(field.GetString() ?? "");
        return parameters.TryGetProperty("Label", out JsonElement label) ? name + ": " + Tidy(label.GetString() ?? "") : name;
    }

    private static string Cell(JsonElement node, string member)
    {
        if (!node.TryGetProperty(member, out JsonElement value))
            return "";
        if (member == "ElapsedMicroseconds")
            return Duration(value.GetDouble());

        string number = value.GetInt64().ToString("N0", CultureInfo.InvariantCulture);
        return member == "Estimate" && node.TryGetProperty("IsExact", out JsonElement exact) && !exact.GetBoolean()
            ? "≤ " + number
            : number;
    }

    /// <summary>Formats a duration in the unit that makes it shortest.</summary>
    public static string Duration(double microseconds) => microseconds switch
    {
        < 1_000 => string.Create(CultureInfo.InvariantCulture, $"{microseconds:0.#} µs"),
        < 1_000_000 => string.Create(CultureInfo.InvariantCulture, $"{microseconds / 1_000:0.##} ms"),
        _ => string.Create(CultureInfo.InvariantCulture, $"{microseconds / 1_000_000:0.##} s"),
    };

    private static string Cost(JsonElement decision) =>
        decision.TryGetProperty("CostMicroseconds", out JsonElement cost) ? $" (about {Duration(cost.GetDouble())})" : "";

    private static string Text(JsonElement parent, string name) => Tidy(parent.GetProperty(name).GetString() ?? "");

    /// <summary>Replaces control characters, so that the text stays on one line and cannot move the cursor.</summary>
    private static string Tidy(string text) => string.Concat(text.Select(c => char.IsControl(c) ? ' ' : c));

    private static string Right(string text, int width) => new string(' ', Gap + Math.Max(0, width - text.GetCellWidth())) + text;

    private static string Fit(string text, int width)
    {
        if (text.GetCellWidth() <= width)
            return text + new string(' ', width - text.GetCellWidth());

        int length = Math.Min(text.Length, width - 1);
        while (length > 0 && text[..length].GetCellWidth() > width - 1)
            length--;
        return text[..length] + "…" + new string(' ', Math.Max(0, width - 1 - text[..length].GetCellWidth()));
    }

    private sealed record Line(string Text, JsonElement? Node);

    private sealed record Column(string Title, int Place, int Rank, string[] Cells)
    {
        public int Width { get; } = Math.Max(Title.Length, Cells.Max(cell => cell.GetCellWidth()));
    }
}
