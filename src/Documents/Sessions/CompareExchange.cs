namespace Treepie.Sessions;

/// <summary>A compare-exchange value as it was read.</summary>
/// <param name="Key">Its key.</param>
/// <param name="Value">The value.</param>
/// <param name="Index">Its index, which every change moves.</param>
/// <typeparam name="T">What the value is.</typeparam>
public sealed record CompareExchange<T>(string Key, T? Value, long Index);
