namespace Shop;

/// <summary>What a customer wants.</summary>
public sealed record PurchaseRequest(int ProductId, int Amount);
