using System.Text;
using System.Text.Json;
using Spectre.Console;

namespace Treepie.CommandLine.Queries;

/// <summary>Results as a table: the id if there is one, then the fields in order of first appearance.</summary>
internal sealed class ResultTable
{
    private const string IdColumn = "id()";

    /// <summary>Maximum length of a cell's text. Longer text is cut and marked with an ellipsis.</summary>
    private const int MaxCellCharacters = 60;

    /// <summary>Minimum useful width of a column.</summary>
    private const int LeastColumnWidth = 12;

    /// <summary>Width between columns: a line and two blanks.</summary>
    private const int BorderWidth = 3;

    private readonly List<JsonElement> _rows;
    private readonly List<string> _columns;

    private ResultTable(List<JsonElement> rows, List<string> columns)
    {
        _rows = rows;
        _columns = columns;
    }

    /// <summary>Columns that did not fit when the table was written.</summary>
    public IReadOnlyList<string> HiddenColumns { get; private set; } = [];

    /// <summary>Creates a table of at most <paramref name="maxRows"/> results.</summary>
    public static ResultTable Of(JsonElement results, int maxRows)
    {
        List<JsonElement> rows = [.. results.EnumerateArray().Where(row => row.ValueKind == JsonValueKind.Object).Take(maxRows)];
        List<string> columns = rows.Any(row => IdOf(row) is not null) ? [IdColumn] : [];
        var known = new HashSet<string>(StringComparer.Ordinal);
        foreach (JsonElement row in rows)
            foreach (JsonProperty field in row.EnumerateObject())
                if (field.Name != "@metadata" && known.Add(field.Name))
                    columns.Add(field.Name);

        return new ResultTable(rows, columns);
    }

    /// <summary>Writes the table in the width of the console.</summary>
    public void WriteTo(IAnsiConsole console)
    {
        if (_columns.Count == 0)
            return;

        int room = Math.Max(1, console.Profile.Width / LeastColumnWidth);
        HiddenColumns = [.. _columns.Skip(room)];
        List<string> shown = [.. _columns.Take(room)];
        List<string[]> cells = [.. _rows.Select(row => shown.Select(column => Cell(row, column)).ToArray())];
        int[] widths = Widths(shown, cells, console.Profile.Width - 1 - (BorderWidth * shown.Count));
        var table = new Table { Border = TableBorder.Rounded };
        for (int i = 0; i < shown.Count; i++)
            table.AddColumn(new TableColumn(new Text(Cut(shown[i], widths[i]), new Style(decoration: Decoration.Bold)))
            {
                Alignment = IsNumeric(shown[i]) ? Justify.Right : Justify.Left,
                NoWrap = true,
            });

        foreach (string[] row in cells)
            table.AddRow(row.Select((cell, i) => new Text(Cut(cell, widths[i]))));

        console.Write(table);
    }

    /// <summary>
    /// Column widths for the longest text. If the sum is too wide, the widest columns shrink, except the id, which users copy.
    /// </summary>
    private static int[] Widths(List<string> columns, List<string[]> cells, int room)
    {
        int[] widths =
            [.. columns.Select((column, i) => Math.Max(column.GetCellWidth(), cells.Max(row => row[i].GetCellWidth())))];
        Span<int> yielding = columns[0] == IdColumn && columns.Count > 1 ? widths.AsSpan(1) : widths;
        for (int tooMuch = widths.Sum() - room; tooMuch > 0; tooMuch--)
        {
            int widest = 0;
            for (int i = 1; i < yielding.Length; i++)
                if (yielding[i] > yielding[widest])
                    widest = i;

            yielding[widest] = Math.Max(1, yielding[widest] - 1);
        }

        return widths;
    }

    private static string Cut(string text, int width)
    {
        if (text.GetCellWidth() <= width)
            return text;

        var cut = new StringBuilder(width);
        int used = 1; // the ellipsis
        foreach (Rune rune in text.EnumerateRunes())
        {
            used += rune.ToString().GetCellWidth();
            if (used > width)
                break;

            cut.Append(rune);
        }

        return cut.Append('…').ToString();
    }

    private bool IsNumeric(string column) =>
        _rows.Any(row => row.TryGetProperty(column, out JsonElement value) && value.ValueKind == JsonValueKind.Number)
        && _rows.All(
            row => !row.TryGetProperty(column, out JsonElement value)
                || value.ValueKind is JsonValueKind.Number or JsonValueKind.Null);

    private static string Cell(JsonElement row, string column)
    {
        if (column == IdColumn && IdOf(row) is { } id)
            return id;

        if (!row.TryGetProperty(column, out JsonElement value))
            return "";

        string text = value.ValueKind == JsonValueKind.String ? value.GetString() ?? "" : value.GetRawText();
        return Tidy(text);
    }

    /// <summary>Makes the text one line without control characters, which a terminal would execute.</summary>
    private static string Tidy(string text)
    {
        var tidy = new StringBuilder(Math.Min(text.Length, MaxCellCharacters));
        foreach (Rune rune in text.EnumerateRunes())
        {
            if (tidy.Length + rune.Utf16SequenceLength > MaxCellCharacters)
                return tidy.Append('…').ToString();

            tidy.Append(Rune.IsControl(rune) ? " " : rune.ToString());
        }

        return tidy.ToString();
    }

    private static string? IdOf(JsonElement row) =>
        row.TryGetProperty("@metadata", out JsonElement metadata) && metadata.ValueKind == JsonValueKind.Object
        && metadata.TryGetProperty("@id", out JsonElement id) && id.ValueKind == JsonValueKind.String
            ? id.GetString()
            : null;
}
