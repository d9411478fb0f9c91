namespace Treepie.NativeProgram;

/// <summary>A group of places.</summary>
internal sealed record CountryRow(string Country, int Count, int Visits);
