namespace Treepie;

/// <summary>
/// Rules for database names: 1 to 128 ASCII letters, digits, <c>_</c>, <c>-</c> and <c>.</c>, with no dot at either end, and
/// no device names of Windows. So a name is a valid folder name on every system, cannot lead outside of the parent folder,
/// and cannot be confused with a similar one. Names are compared ignoring case.
/// </summary>
internal static class DatabaseName
{
    private const int MaxLength = 128;

    /// <summary>Device names of Windows, with any extension. COM and LPT with a digit are devices as well.</summary>
    private static readonly string[] _devices = ["CON", "PRN", "AUX", "NUL"];

    /// <summary>
    /// Whether a folder name may be a database. Includes names that older versions allowed and that are refused for new
    /// databases.
    /// </summary>
    public static bool IsFolder(string name)
    {
        if (name.Length is 0 or > MaxLength || name.Trim('.').Length == 0)
            return false;
        foreach (char unit in name)
            if (!char.IsLetterOrDigit(unit) && unit is not ('_' or '-' or '.'))
                return false;
        return true;
    }

    /// <summary>Throws if a name is not allowed for a new database.</summary>
    /// <exception cref="ArgumentException">The name is not allowed; the message says why.</exception>
    public static void Check(string name)
    {
        ArgumentNullException.ThrowIfNull(name);
        if (name.Length is 0 or > MaxLength || !name.All(static c => char.IsAsciiLetterOrDigit(c) || c is '_' or '-' or '.'))
            throw Refused(
                name,
                $"a name has 1 to {MaxLength} letters from A to Z, digits, '_', '-' and '.'; other letters look too much like "
                    + $"these");
        if (name[0] == '.' || name[^1] == '.')
            throw Refused(name, "a name neither begins nor ends with a dot");
        if (IsDevice(name.Split('.')[0]))
            throw Refused(name, "Windows keeps this name for a device, so the files could not be moved there");
    }

    private static bool IsDevice(string stem) =>
        _devices.Contains(stem, StringComparer.OrdinalIgnoreCase)
        || (stem.Length == 4 && char.IsAsciiDigit(stem[3])
            && (stem.StartsWith("COM", StringComparison.OrdinalIgnoreCase)
                || stem.StartsWith("LPT", StringComparison.OrdinalIgnoreCase)));

    private static ArgumentException Refused(string name, string why) =>
        new($"'{name}' cannot be the name of a database: {why}.", nameof(name));
}
