namespace Treepie.Sessions;

/// <summary>A compare-exchange value as read from the database.</summary>
/// <param name="Key">The key.</param>
/// <param name="Value">The value.</param>
/// <param name="Index">The index of the value; every change increases it.</param>
/// <typeparam name="T">The type of the value.</typeparam>
public sealed record CompareExchange<T>(string Key, T? Value, long Index);
